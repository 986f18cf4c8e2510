import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { builtConsole } from "../../src/gateway/console-build.ts";
import { silentLog } from "../../src/telemetry/log.ts";
import {
	CHROMIUM,
	type ConsoleFixture,
	findings,
	MANY_KEYS,
	NEEDLE,
	signIn,
	startConsoleFixture,
	UPSTREAM_KEY,
} from "../support/console-fixture.ts";
import { until } from "../support/until.ts";

if (CHROMIUM === null) console.log("No Chromium here: the tests of the console's pages are skipped.");
const look = test.skipIf(CHROMIUM === null);

let fixture: ConsoleFixture;
let requestId: string;
beforeAll(async () => {
	if (CHROMIUM === null) return;
	fixture = await startConsoleFixture({ manyKeys: true });
	requestId = await fixture.charge();
	await fixture.charge("text-plain");
});
afterAll(() => fixture?.stop());
afterEach(() => {
	// Above all a violation of the pages' policy: nothing inline, nothing from elsewhere.
	expect(fixture?.complaints.splice(0) ?? []).toEqual([]);
});

const PAGES: readonly (readonly [path: string, heading: string, shows: string])[] = [
	["/", "Overview", "Requests a second"],
	["/models", "Models and upstreams", "text-large"],
	["/chains", "Chains", "Ethereum mainnet"],
	["/assets", "Assets", "Apache-2.0"],
	["/accounts", "Accounts", "operator"],
	["/keys", "Keys", "first key"],
	["/wallets", "Wallets and top-ups", "No top-ups"],
	["/wallets?tab=wallets", "Wallets and top-ups", "No wallet has paid yet"],
	["/wallets?tab=reconcile", "Wallets and top-ups", "No receiver is configured"],
	["/usage?by=day,model", "Usage", "text-large"],
	["/margin", "Margin by model", "text-large"],
	["/books", "Books", "Not audited since the start"],
	["/requests", "One request", "X-Request-ID"],
	["/refusals", "Refused by limits", "No request was refused"],
	["/sends", "Sent transactions", "Nothing was sent"],
	["/settings", "Settings", "server.port"],
	["/play/chat", "Chat", "The same request as code"],
	["/play/speech", "Speech", "Nothing was spoken yet"],
	["/play/images", "Image edit", "Not edited yet"],
	["/play/documents", "Documents", "Nothing was read yet"],
	["/play/rpc", "JSON-RPC", "Nothing was called yet"],
];

let shown: Page | null = null;

/** Goes to a page as its reader does: by the list of pages, where it has the path. */
async function show(path: string): Promise<Page> {
	shown ??= await fixture.at("/");
	await shown.setViewportSize({ width: 1280, height: 900 });
	await shown.emulateMedia({ colorScheme: "light" });
	const link = shown.locator(`.rail nav a[href="/console${path}"]`);
	if ((await link.count()) === 1) await link.click();
	else await shown.goto(`${fixture.url}/console${path}`);
	return shown;
}

for (const [path, heading, shows] of PAGES)
	look(`${path} shows what it is for, fits a phone, and has no serious finding of axe in either theme`, async () => {
		const page = await show(path);
		await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
		await page.getByRole("main").getByText(shows).first().waitFor();
		expect(await findings(page)).toEqual([]);
		await page.emulateMedia({ colorScheme: "dark" });
		expect(await findings(page, ["color-contrast"])).toEqual([]);
		await page.setViewportSize({ width: 390, height: 800 });
		expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
	});

look("the page to sign in says why a key is refused, and leads back to the page that was asked for", async () => {
	const page = await fixture.stranger();
	await page.goto(`${fixture.url}/console/usage?by=model`);
	await page.getByRole("heading", { name: "Sign in" }).waitFor();
	expect(await findings(page)).toEqual([]);
	await signIn(page, "sk_adm_not-a-key");
	await page.getByRole("alert").waitFor();
	expect(fixture.complaints.splice(0)).toEqual(expect.arrayContaining([expect.stringContaining("401")]));
	await signIn(page);
	await page.waitForURL(`${fixture.url}/console/usage?by=model`);
	await page.getByRole("rowheader", { name: "text-large" }).waitFor();
	await page.context().close();
});

look("an address in a link to sign in cannot lead out of the console", async () => {
	const page = await fixture.stranger();
	await page.goto(`${fixture.url}/console/sign-in?back=${encodeURIComponent("/console//evil.example/")}`);
	await signIn(page);
	await page.waitForURL(`${fixture.url}/console/`);
	fixture.complaints.length = 0;
	await page.context().close();
});

look("a session that has ended leads to the sign-in page and from there back", async () => {
	const page = await fixture.stranger();
	await page.goto(`${fixture.url}/console/sign-in?back=${encodeURIComponent("/console/accounts?search=oper")}`);
	await signIn(page);
	await page.getByRole("link", { name: "operator" }).waitFor();
	await page.context().clearCookies();
	await page.getByLabel("Find").fill("operator");
	await page.getByRole("heading", { name: "Sign in" }).waitFor();
	await signIn(page);
	await page.getByRole("link", { name: "operator" }).waitFor();
	expect(new URL(page.url()).search).toBe("?search=operator");
	await page.getByRole("button", { name: "Sign out" }).click();
	await page.getByRole("heading", { name: "Sign in" }).waitFor();
	fixture.complaints.length = 0;
	await page.context().close();
});

look("one request is found by its X-Request-ID, with its price to the last place", async () => {
	const page = await fixture.at(`/requests?id=${requestId}`);
	await page.getByText("text-large", { exact: true }).first().waitFor();
	// 9 tokens in at 0.5 and 4 out at 1.5 USD a million.
	await page.getByTitle("0.0000105 USD").first().waitFor();
	await page.getByLabel("X-Request-ID").fill("0".repeat(32));
	await page.getByRole("button", { name: "Find" }).click();
	await page.getByText("No request is booked under this id").waitFor();
	expect(fixture.complaints.splice(0)).toEqual([expect.stringContaining("404")]);
	await page.close();
});

look("10,000 keys are scrolled with few rows in the document, and found by a word", async () => {
	const page = await fixture.at("/keys");
	const list = page.getByRole("region", { name: "Keys" });
	await list.getByRole("row").nth(5).waitFor();
	await list.hover();
	const scrolled = async () => {
		await page.mouse.wheel(0, 5_000);
		return (await page.getByText("300 loaded").count()) > 0;
	};
	await until(scrolled, "the third page of keys");
	expect(await list.getByRole("row").count()).toBeLessThan(80);
	await page.getByLabel("Find").fill(NEEDLE);
	await page.getByText("1 in total").waitFor();
	expect(await list.getByRole("rowheader").textContent()).toContain("007777");
	await page.getByLabel("Find").fill("no key has this");
	await page.getByText("No key matches").waitFor();
	const { data } = (await (await page.request.get(`${fixture.url}/console/api/keys?limit=1`)).json()) as { data: unknown[] };
	expect([data.length, MANY_KEYS]).toEqual([1, 10_000]);
	await page.close();
});

look("times are the reader's own, with UTC beside them", async () => {
	const page = await fixture.at("/accounts");
	const moment = page.locator("time").first();
	const at = new Date((await moment.getAttribute("datetime")) ?? "");
	const inIndia = new Date(at.getTime() + 5.5 * 3_600_000).toISOString().slice(0, 19).replace("T", " ");
	expect(await moment.textContent()).toBe(inIndia);
	expect(await moment.getAttribute("title")).toBe(`${at.toISOString().slice(0, 23).replace("T", " ")} UTC`);
	await page.close();
});

look("a chart can be read as a table", async () => {
	const page = await fixture.at("/usage?by=day,model");
	const chart = page.getByRole("figure", { name: "Charges by day" });
	await chart.getByRole("button", { name: "Table" }).click();
	expect(await chart.getByRole("row").count()).toBe(31);
	await page.close();
});

look("the theme follows the system until one is chosen, and the choice stays", async () => {
	const page = await fixture.at("/settings");
	const ground = () => page.evaluate("getComputedStyle(document.body.parentElement).backgroundColor");
	const light = await ground();
	await page.emulateMedia({ colorScheme: "dark" });
	const dark = await ground();
	expect(dark).not.toBe(light);
	await page.getByRole("button", { name: "Light" }).click();
	expect(await ground()).toBe(light);
	await page.reload();
	await page.getByRole("heading", { level: 1 }).waitFor();
	expect(await ground()).toBe(light);
	await page.getByRole("button", { name: "System" }).click();
	expect(await ground()).toBe(dark);
	await page.close();
});

look("everything is reached by keyboard: the page past the list, and a dialog and back out of it", async () => {
	const page = await fixture.at("/accounts");
	/** Focus moves a moment after what moved it. The page's policy lets only the first look of `waitForFunction` run. */
	const holds = (condition: string) => until(() => page.evaluate<boolean>(condition), condition);
	const focused = (text: string) => holds(`document.activeElement.textContent === ${JSON.stringify(text)}`);
	await page.keyboard.press("Tab");
	await focused("Skip to content");
	await page.keyboard.press("Enter");
	await page.keyboard.press("Tab");
	await page.keyboard.press("Enter");
	const dialog = page.getByRole("dialog", { name: "New account" });
	await dialog.waitFor();
	expect(await findings(page)).toEqual([]);
	for (let step = 0; step < 8; step++) {
		await page.keyboard.press("Tab");
		await holds("!document.querySelector('.frame').contains(document.activeElement)");
	}
	await page.keyboard.press("Escape");
	await dialog.waitFor({ state: "detached" });
	await focused("New account");
	await page.close();
});

look("on a phone a menu leads from page to page", async () => {
	const page = await fixture.at("/", 390);
	await page.getByRole("button", { name: "Menu" }).click();
	expect(await findings(page)).toEqual([]);
	await page.getByRole("link", { name: "Books" }).click();
	await page.getByRole("heading", { name: "Books" }).waitFor();
	await page.getByRole("dialog").waitFor({ state: "detached" });
	await until(() => page.evaluate<boolean>("document.activeElement.id === 'content'"), "the content has the focus");
	await page.close();
});

look("no page shows a secret of the configuration", async () => {
	const page = await fixture.at("/settings");
	await page.getByLabel("Find a setting").fill("upstreams.scripted");
	await page.getByRole("row", { name: "upstreams.scripted.key hidden" }).waitFor();
	await page.getByRole("button", { name: "JSON" }).click();
	expect(await page.content()).not.toContain(UPSTREAM_KEY);
	await page.close();
});

look("a server that is gone has a banner, and what is shown comes alive again with it", async () => {
	const page = await fixture.at("/accounts");
	await page.getByRole("link", { name: "operator" }).waitFor();
	await fixture.kill();
	await page.getByLabel("Find").fill("customer 7");
	const banner = page.getByText("The server does not answer.");
	await banner.first().waitFor();
	expect(await findings(page)).toEqual([]);
	await fixture.restart();
	await page
		.getByRole("button", { name: "Retry now" })
		.click({ timeout: 3_000 })
		.catch(() => {
			// It was faster: the banner has gone by itself.
		});
	await page.getByRole("link", { name: "Customer 7" }).waitFor();
	await page.getByText("asked again every two seconds").waitFor({ state: "detached" });
	fixture.complaints.length = 0;
	await page.close();
});

look("all that is loaded is less than 400 kB compressed, and a page's own part is small", async () => {
	const files = await builtConsole({ dataDir: "/nowhere", log: silentLog });
	const sizes = [...files].map(([name, { bytes, packed }]) => ({ name, size: packed.gzip?.length ?? bytes.length }));
	const loaded = sizes.filter(({ name }) => name.endsWith(".js") || name.endsWith(".css") || name === "index.html");
	expect(loaded.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(400_000);
	expect(Math.max(...loaded.map(({ size }) => size))).toBeLessThan(120_000);
});
