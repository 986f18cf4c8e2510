import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { keccak256 } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { TOOL_SPEECH } from "../support/chat-answers.ts";
import { CHROMIUM, type ConsoleFixture, findings, signIn, startConsoleFixture } from "../support/console-fixture.ts";

if (CHROMIUM === null) console.log("No Chromium here: the tests of the console's actions are skipped.");
const act = test.skipIf(CHROMIUM === null);

let fixture: ConsoleFixture;
beforeAll(async () => {
	if (CHROMIUM !== null) fixture = await startConsoleFixture();
});
afterAll(() => fixture?.stop());
afterEach(() => {
	fixture?.chat.reset();
	expect(fixture?.complaints.splice(0) ?? []).toEqual([]);
});

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
const said = (page: Page, text: string) => page.getByRole("dialog").getByText(text).or(page.getByText(text)).first().waitFor();
/** A figure under its name. */
const figure = (page: Page, name: string) => page.locator(".figure", { hasText: name }).locator("dd");

/** Makes an account with so much money, and is on its page. */
async function account(name: string, creditUsd = ""): Promise<Page> {
	const page = await fixture.at("/accounts");
	await press(page, "New account");
	await page.getByLabel("Name").fill(name);
	await page.getByLabel("Starting credit in USD").fill(creditUsd);
	await press(page, "Create account");
	await page.getByRole("heading", { level: 1, name }).waitFor();
	return page;
}

/** Makes a key of the account whose page this is; its secret. */
async function createKey(
	page: Page,
	description: string,
	fill: (dialog: Page) => Promise<void> = async () => {},
): Promise<string> {
	await press(page, "New key");
	await page.getByLabel("Description").fill(description);
	await fill(page);
	await press(page, "Create key");
	const secret = await page.getByRole("region", { name: "the key", exact: true }).textContent();
	await press(page, "I have copied it");
	await page.getByRole("rowheader", { name: description }).waitFor();
	return secret?.trim() ?? "";
}

const ask = (key: string) =>
	fetch(`${fixture.url}/api/v1/chat/completions`, {
		method: "POST",
		headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
		body: JSON.stringify({ model: "text-large", messages: [{ role: "user", content: "Say hello." }] }),
	});

act("makes an account, credits it once, takes back, refunds a request, and books each under its reference", async () => {
	const page = await account("Northwind", "25");
	await figure(page, "USD").getByText("$25.00").waitFor();

	await press(page, "Credit");
	await page.getByLabel("Amount in USD").fill("12.000000001");
	await page.getByLabel("Reference").fill("invoice-7");
	await page.getByRole("dialog").getByRole("button", { name: "Credit" }).click();
	await figure(page, "USD").getByText("$37.00").waitFor();
	expect(await figure(page, "USD").textContent()).toBe("$37.000000001");
	await page.getByRole("row", { name: "invoice-7" }).waitFor();

	await press(page, "Debit");
	await page.getByLabel("Amount in USD").fill("100");
	await page.getByRole("dialog").getByRole("button", { name: "Debit" }).click();
	await page.getByRole("dialog").getByRole("alert").waitFor();
	expect(fixture.complaints.splice(0).length).toBeGreaterThan(0);
	await page.getByLabel("Amount in USD").fill("7.000000001");
	await page.getByRole("dialog").getByRole("button", { name: "Debit" }).click();
	await figure(page, "USD").getByText("$30.00").waitFor();

	const key = await createKey(page, "a bot");
	const requestId = (await ask(key)).headers.get("x-request-id") ?? "";
	await press(page, "Refund");
	await page.getByLabel("X-Request-ID").fill(requestId);
	await page.getByLabel("Amount in USD").fill("0.00001");
	await page.getByRole("button", { name: "Refund a request" }).click();
	await said(page, "$0.00001 refunded");
	await page.getByRole("tab", { name: "Refunds" }).click();
	await page.getByRole("cell", { name: `${requestId.slice(0, 8)}…` }).waitFor();
	await page.close();
});

act("changes an account, disables it and enables it again; its keys obey", async () => {
	const page = await account("Acme", "1");
	const key = await createKey(page, "its key");
	await page.getByRole("button", { name: "Change", exact: true }).click();
	await page.getByLabel("Name").fill("Acme Robotics");
	await page.getByLabel("Tier").selectOption("partner");
	await press(page, "Save");
	await page.getByRole("heading", { level: 1, name: "Acme Robotics" }).waitFor();
	await press(page, "Disable");
	expect(await findings(page)).toEqual([]);
	await press(page, "Disable account");
	await press(page, "Enable");
	expect((await ask(key)).status).toBe(403);
	await press(page, "Enable account");
	await page.getByRole("button", { name: "Disable", exact: true }).waitFor();
	expect((await ask(key)).status).toBe(200);
	await page.close();
});

act("makes a key whose secret is shown once, limits it, and revokes it", async () => {
	const page = await account("Bluebird", "1");
	const key = await createKey(page, "night bot", async (dialog) => {
		await dialog.getByLabel("Limit in USD").fill("five");
		await press(dialog, "Create key");
		await dialog.getByText("USD: expected a number of 0 or more").waitFor();
		await dialog.getByLabel("Limit in USD").fill("5");
		await dialog.getByText("Restrictions").click();
		await dialog.getByLabel("Endpoints").fill("chat\nmodels");
	});
	expect(await page.content()).not.toContain(key);
	await page.getByRole("cell", { name: "$5 a day (UTC)" }).waitFor();
	await page.getByRole("cell", { name: "endpoints: chat, models" }).waitFor();
	expect((await ask(key)).status).toBe(200);

	await page.getByRole("button", { name: "Change night bot" }).click();
	await page.getByRole("textbox", { name: "Limit in USD" }).fill("0");
	await page.getByLabel("Period").selectOption("LIFETIME");
	await press(page, "Save");
	await page.getByRole("cell", { name: "$0 in total" }).waitFor();
	expect((await ask(key)).status).toBe(402);

	await page.getByRole("button", { name: "Revoke night bot" }).click();
	await press(page, "Revoke key");
	await page.getByText("No active keys").waitFor();
	expect((await ask(key)).status).toBe(401);
	await page.close();
});

act("tells usage by model and key, keeps the view in its address, and gives it as CSV", async () => {
	await fixture.charge("text-large");
	await fixture.charge("text-plain");
	const page = await fixture.at("/usage?by=model");
	await page.getByRole("rowheader", { name: "text-plain" }).waitFor();
	await page.getByLabel("key", { exact: true }).check();
	await page.getByRole("columnheader", { name: "Key" }).waitFor();
	await page.getByRole("searchbox", { name: "Model" }).fill("text-plain");
	await page.getByRole("rowheader", { name: "text-large" }).first().waitFor({ state: "detached" });
	expect(new URL(page.url()).searchParams.get("model")).toBe("text-plain");
	const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download CSV" }).click()]);
	const csv = await Bun.file(await download.path()).text();
	expect(csv.split("\n")[0]).toContain("model");
	expect(csv).toContain("text-plain");
	expect(csv).not.toContain("text-large");
	await page.close();
});

act("shows the margin of a model with costs, and of one without that it is not known", async () => {
	const page = await fixture.at("/margin");
	const row = (name: string) => page.getByRole("row").filter({ has: page.getByRole("rowheader", { name }) });
	await row("text-large").getByText("%").waitFor();
	await row("text-plain").getByText("not set").waitFor();
	await page.close();
});

act("asks an upstream now, audits the books, sets the log level, and says what came of it", async () => {
	const page = await fixture.at("/models");
	await page.getByRole("button", { name: "Probe now: scripted" }).click();
	await said(page, "scripted answered in");
	await page.getByLabel("Find a model").fill("text-pl");
	await page.getByRole("rowheader", { name: "text-large" }).waitFor({ state: "detached" });
	await page.goto(`${fixture.url}/console/books`);
	await press(page, "Audit now");
	await page.getByText("The books balance").waitFor();
	await page.goto(`${fixture.url}/console/settings`);
	await page.getByRole("combobox", { name: "Level" }).selectOption("warn");
	await said(page, "The log level is warn");
	await page.close();
});

act("a change goes through where its tab has missed that somebody signed in anew", async () => {
	const page = await fixture.at("/settings");
	const other = await fixture.at("/");
	await other.getByRole("button", { name: "Sign out" }).click();
	await other.getByRole("heading", { name: "Sign in" }).waitFor();
	await signIn(other);
	await other.getByText("Requests a second").waitFor();
	fixture.complaints.length = 0;
	await page.getByRole("combobox", { name: "Level" }).selectOption("error");
	await said(page, "The log level is error");
	expect(fixture.complaints.splice(0)).toEqual([expect.stringContaining("403")]);
	await Promise.all([page.close(), other.close()]);
});

act("says what went wrong on the server, under its id, and tries again when asked", async () => {
	const page = await fixture.at("/");
	const refusal = {
		status: 500,
		headers: { "x-request-id": "f".repeat(32) },
		json: { error: "The disk is full", code: "UNKNOWN_ERROR" },
	};
	await page.route("**/console/api/margin?**", (route) => route.fulfill(refusal), { times: 1 });
	await page.getByRole("link", { name: "Margin" }).click();
	const alert = page.getByRole("alert");
	await alert.getByText("The disk is full").waitFor();
	expect(await alert.textContent()).toContain("f".repeat(32));
	expect(fixture.complaints.splice(0)).toEqual([expect.stringContaining("500")]);
	await press(page, "Try again");
	await page.getByText("Sold", { exact: true }).first().waitFor();
	expect(await alert.count()).toBe(0);
	await page.close();
});

act("starts a reconciliation, and shows why there is none", async () => {
	const page = await fixture.at("/wallets?tab=reconcile");
	await press(page, "Reconcile now");
	await press(page, "Reconcile");
	await page.getByRole("alertdialog").getByRole("alert").getByText("No receiver is configured").waitFor();
	expect(fixture.complaints.splice(0)).toEqual([expect.stringContaining("503")]);
	await page.close();
});

act("fetches an asset and shows how far it is", async () => {
	const page = await fixture.at("/assets");
	const { assets } = (await (await page.request.get(`${fixture.url}/console/api/assets`)).json()) as {
		assets: { name: string; state: string }[];
	};
	const wanted = assets.find(({ state }) => state === "absent")?.name ?? "";
	// A registry is no part of a test: what the server would say stands in for its answer.
	const fetching = assets.map((each) =>
		each.name === wanted ? { ...each, state: "fetching", receivedBytes: 50, totalBytes: 200 } : each,
	);
	await page.route("**/console/api/assets**", (route) => route.fulfill({ json: { assets: fetching } }));
	await page.getByRole("button", { name: `Download: ${wanted}` }).click();
	const bar = page.getByRole("progressbar", { name: `Downloading ${wanted}` });
	expect(await bar.getAttribute("aria-valuetext")).toBe("50 B of 200 B, 25.0 %");
	await page.close();
});

act("shows who asked a model for what it lacks", async () => {
	const tools = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }];
	const page = await fixture.at("/refusals");
	const session = (await (await page.request.get(`${fixture.url}/console/api/session`)).json()) as { csrfToken: string };
	const refused = await page.request.post(`${fixture.url}/console/api/play/chat/completions`, {
		headers: { "x-csrf-token": session.csrfToken },
		data: { model: "text-plain", messages: [{ role: "user", content: "?" }], tools },
	});
	expect(refused.status()).toBe(400);
	const row = page.getByRole("row", { name: "a feature that the model lacks" });
	const end = Date.now() + 20_000;
	while ((await row.count()) === 0 && Date.now() < end) {
		await page.reload();
		await page.getByRole("heading", { level: 1 }).waitFor();
		await row.waitFor({ timeout: 1_000 }).catch(() => {});
	}
	expect(await row.textContent()).toContain("text-plain");
	await page.close();
});

/** The price under the answer, once it is booked. */
const cost = (page: Page) => page.locator("dd").filter({ hasText: "$" }).first();

act("chats by stream, shows what it cost and the headers, and copies the same request as code", async () => {
	const page = await fixture.at("/play/chat");
	await page.getByLabel("Model").fill("text-large");
	await page.getByLabel("Message").fill("Say hello.");
	await press(page, "Send");
	await page.getByRole("log").getByText("Hello, world!").waitFor();
	await cost(page).getByText("$0.00").waitFor();
	await page.getByText("Headers (").click();
	await page.getByText("x-service-model-id").waitFor();
	await page.getByRole("tab", { name: "Python" }).click();
	await page.getByRole("button", { name: "Copy the request as Python" }).click();
	const copied = String(await page.evaluate("navigator.clipboard.readText()"));
	expect(copied).toContain("client.chat.completions.create(");
	expect(copied).toContain('"content": "Hello, world!"');
	expect(await findings(page)).toEqual([]);
	await page.close();
});

act("has the reader answer a model's calls of tools, and goes on with the results", async () => {
	fixture.chat.next({ speech: TOOL_SPEECH });
	const page = await fixture.at("/play/chat");
	await page.getByLabel("Model").fill("text-large");
	await press(page, "Insert a sample tool");
	await page.getByLabel("Message").fill("What is the weather?");
	await press(page, "Send");
	await page.getByText('weather({"city":"Zürich"})').waitFor();
	await page.getByLabel("Result of lookup").fill("nothing");
	await page.getByLabel("Result of weather").fill("rain");
	await press(page, "Send results");
	await page.getByRole("log").getByText("Hello, world!").waitFor();
	const messages = fixture.chat.requests.at(-1)?.body.messages;
	expect(messages).toMatchObject([
		{ role: "user" },
		{ role: "assistant", tool_calls: [{ id: "call_a" }, { id: "call_b" }] },
		{ role: "tool", tool_call_id: "call_a", content: "nothing" },
		{ role: "tool", tool_call_id: "call_b", content: "rain" },
	]);
	await page.close();
});

act("a chat that is refused says why, and can be sent again", async () => {
	const page = await fixture.at("/play/chat");
	await page.getByLabel("Model").fill("no-such-model");
	await page.getByLabel("Message").fill("Say hello.");
	await press(page, "Send");
	await page.getByRole("alert").waitFor();
	fixture.complaints.length = 0;
	await page.getByText("nothing, since failed requests are free").waitFor();
	await page.getByLabel("Model").fill("text-large");
	await press(page, "Send again");
	await page.getByRole("log").getByText("Hello, world!").waitFor();
	await page.close();
});

act("a chat that is stopped ends at the upstream", async () => {
	fixture.chat.next({ hang: "after-first-chunk" });
	const page = await fixture.at("/play/chat");
	await page.getByLabel("Model").fill("text-large");
	await page.getByLabel("Message").fill("Say hello.");
	await press(page, "Send");
	await page.getByText("running, 200").waitFor();
	await press(page, "Stop");
	await page.getByText("stopped, 200").waitFor();
	await fixture.chat.requests.at(-1)?.aborted;
	await cost(page).waitFor();
	// Until its charge is booked, the request is not there.
	fixture.complaints.length = 0;
	await page.close();
});

act("speaks a text into a player, with its voices offered and its cost shown", async () => {
	const page = await fixture.at("/play/speech");
	await page.getByLabel("Text").fill("Hello there.");
	await press(page, "Speak");
	await page.locator("audio").waitFor();
	expect(await page.locator("audio").getAttribute("src")).toStartWith("blob:");
	await cost(page).waitFor();
	expect(fixture.speech.requests.at(-1)?.body).toMatchObject({ input: "Hello there.", voice: "bf_emma" });
	await page.close();
});

act("edits a picture here, and shows it before and after", async () => {
	const picture = await sharp({ create: { width: 640, height: 400, channels: 3, background: "#c33" } })
		.png()
		.toBuffer();
	const page = await fixture.at("/play/images");
	await page.getByLabel("Picture").setInputFiles({ name: "red.png", mimeType: "image/png", buffer: picture });
	await page.getByText("640 × 400").waitFor();
	await page.getByLabel("Safe mode").uncheck();
	await page.getByLabel("Prompt").fill("crop to a square, resize to 512x512");
	await press(page, "Edit");
	await page.getByText("512 × 512").waitFor();
	await page.getByText("done, 200").waitFor();
	await page.close();
});

act("reads a document that is dropped", async () => {
	const page = await fixture.at("/play/documents");
	await page.evaluate(`{
		const transfer = new DataTransfer();
		transfer.items.add(new File(["Revenue grew by 12 percent."], "report.txt", { type: "text/plain" }));
		document.querySelector(".drop").dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
	}`);
	await page.getByText("report.txt, 27 B").waitFor();
	await press(page, "Read");
	await page.getByRole("region", { name: "the text" }).getByText("Revenue grew by 12 percent.").waitFor();
	await cost(page).getByText("$0.01").waitFor();
	await page.close();
});

act("a transaction that is sent stands in the audit of sends with its hash and outcome", async () => {
	// The first account of every anvil.
	const owner = privateKeyToAccount("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
	const raw = await owner.signTransaction({
		chainId: 1,
		to: owner.address,
		nonce: 0,
		gas: 21_000n,
		maxFeePerGas: 10n ** 10n,
		maxPriorityFeePerGas: 1n,
	});
	const page = await fixture.at("/play/rpc");
	await page.getByLabel("Method").fill("eth_sendRawTransaction");
	await page.getByLabel("Params, as JSON").fill(JSON.stringify([raw]));
	await press(page, "Call");
	await page.getByRole("region", { name: "the result" }).getByText(keccak256(raw)).waitFor();
	await cost(page).waitFor();
	await page.goto(`${fixture.url}/console/sends?hash=${keccak256(raw)}`);
	const row = page.getByRole("row", { name: "eth_sendRawTransaction" });
	await row.getByText("accepted").waitFor();
	await row.getByTitle(keccak256(raw)).waitFor();
	await page.getByLabel("Network").fill("base-mainnet");
	await page.getByText("Nothing was sent").waitFor();
	await page.close();
});

act("calls a chain's node, and refuses params that are no JSON before they are sent", async () => {
	const page = await fixture.at("/play/rpc");
	await page.getByLabel("Method").fill("eth_chainId");
	await page.getByLabel("Params, as JSON").fill("[oops");
	expect(await page.getByRole("button", { name: "Call", exact: true }).isDisabled()).toBe(true);
	await page.getByLabel("Params, as JSON").fill("[]");
	await press(page, "Call");
	await page.getByRole("region", { name: "the result" }).getByText('"result": "0x1"').waitFor();
	await page.close();
});
