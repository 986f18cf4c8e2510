/**
 * A console as an operator has it: a server in a process of its own with a scripted upstream, a chain, a history and
 * 10,000 keys, and one Chromium that looks at it.
 */
import axe from "axe-core";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { keyHash } from "../../src/access/index.ts";
import { openAdmin } from "../../src/store/admin.ts";
import { type Anvil, startAnvil } from "./anvil.ts";
import { type ScriptedAudioUpstream, startScriptedAudioUpstream } from "./scripted-audio-upstream.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "./scripted-upstream.ts";
import { ADMIN_KEY, type Served, serve, temporaryFolder } from "./served.ts";
import { until } from "./until.ts";

/** Where a browser is; null: the tests of the console are skipped. */
export const CHROMIUM = Bun.which("chromium") ?? Bun.which("google-chrome") ?? Bun.which("chrome");
/** It stands in the configuration and must be on no page. */
export const UPSTREAM_KEY = "upstream-key-that-nobody-may-see";
export const MANY_KEYS = 10_000;
/** Of the one key among many whose description has a needle. */
export const NEEDLE = "the needle";

const FLAGS = [
	"--no-sandbox",
	"--disable-gpu",
	"--disable-quic",
	"--no-first-run",
	"--disable-background-networking",
	"--disable-component-update",
	"--disable-sync",
];

export interface ConsoleFixture {
	readonly url: string;
	readonly chat: ScriptedUpstream;
	readonly speech: ScriptedAudioUpstream;
	/** What pages wrote to their consoles as errors, since it was last emptied. */
	readonly complaints: string[];
	/** A page of a browser profile of its own, not signed in. */
	stranger(): Promise<Page>;
	/** A page of the profile that is signed in, at a path below /console, its heading there. */
	at(path: string, width?: number): Promise<Page>;
	/** A chat request of the operator's key: its X-Request-ID, booked. */
	charge(model?: string): Promise<string>;
	/** Ends the server at once, as a kill does. */
	kill(): Promise<void>;
	/** Starts it again, on the same port and books. */
	restart(): Promise<void>;
	stop(): Promise<void>;
}

export async function startConsoleFixture({ manyKeys = false } = {}): Promise<ConsoleFixture> {
	const chat = startScriptedUpstream();
	const speech = startScriptedAudioUpstream();
	const [anvil, browser] = await Promise.all([
		startAnvil({ chainId: 1 }),
		chromium.launch({ executablePath: CHROMIUM ?? "", args: FLAGS, headless: true }),
	]);
	const config = configOf(chat, speech, anvil);
	const dataDir = temporaryFolder();
	let served: Served = await serve({ dataDir, config });
	if (manyKeys) await fillKeys(served.dataDir);
	await until(async () => (await fetch(`${served.url}/console/`)).ok, "the console's build");
	const complaints: string[] = [];
	const pageOf = async (context: BrowserContext) => {
		const page = await context.newPage();
		page.on("console", (message) => {
			if (message.type() === "error") complaints.push(message.text());
		});
		page.on("pageerror", (error) => complaints.push(error.message));
		return page;
	};
	// Signed in once: sign-ins of an address are limited.
	let signedIn: Promise<BrowserContext> | null = null;
	const enter = async () => {
		const context = await contextOf(browser);
		const page = await pageOf(context);
		await page.goto(`${served.url}/console/sign-in`);
		await signIn(page);
		await page.waitForURL(`${served.url}/console/`);
		await page.close();
		return context;
	};
	return {
		get url() {
			return served.url;
		},
		chat,
		speech,
		complaints,
		stranger: async () => pageOf(await contextOf(browser)),
		async at(path, width = 1280) {
			signedIn ??= enter();
			const page = await pageOf(await signedIn);
			await page.setViewportSize({ width, height: 900 });
			await page.goto(`${served.url}/console${path}`);
			await page.getByRole("heading", { level: 1 }).waitFor();
			return page;
		},
		async charge(model = "text-large") {
			const answer = await served.chat({ model, messages: [{ role: "user", content: "Say hello." }] });
			if (!answer.ok) throw new Error(await answer.text());
			return answer.headers.get("x-request-id") ?? "";
		},
		async kill() {
			served.kill("SIGKILL");
			await served.exited;
		},
		async restart() {
			served = await serve({ dataDir, config, port: served.port });
		},
		async stop() {
			await browser.close();
			served.kill("SIGKILL");
			await served.exited;
			served.remove();
			await Promise.all([anvil.kill(), chat.stop(), speech.stop()]);
		},
	};
}

const contextOf = (browser: Browser) =>
	browser.newContext({
		viewport: { width: 1280, height: 900 },
		colorScheme: "light",
		reducedMotion: "reduce",
		timezoneId: "Asia/Kolkata",
		permissions: ["clipboard-read", "clipboard-write"],
	});

function configOf(chat: ScriptedUpstream, speech: ScriptedAudioUpstream, anvil: Anvil): object {
	const text = { type: "text", contextTokens: 4_096, maxCompletionTokens: 256, tier: "M" };
	return {
		upstreams: {
			scripted: { url: chat.url, key: UPSTREAM_KEY, discover: false },
			speaker: { url: speech.url, discover: false },
		},
		models: {
			entries: {
				"text-large": {
					...text,
					price: { input: 0.5, output: 1.5 },
					cost: { input: 0.25, output: 0.5 },
					traits: ["default"],
					upstreams: [{ upstream: "scripted", model: "large" }],
				},
				"text-plain": {
					...text,
					price: { input: 0.1, output: 0.2 },
					capabilities: { supportsFunctionCalling: false },
					upstreams: [{ upstream: "scripted", model: "plain" }],
				},
				"tts-kokoro": { upstreams: [{ upstream: "speaker", model: "kokoro" }] },
			},
		},
		rpc: { networks: { "ethereum-mainnet": { upstreams: [{ name: "anvil", url: anvil.url }] } } },
	};
}

/** Many keys of twenty accounts, written as one transaction. */
async function fillKeys(dataDir: string): Promise<void> {
	const admin = openAdmin(dataDir);
	try {
		const now = Date.now();
		await admin.db.transaction().execute(async (tx) => {
			const accounts = Array.from({ length: 20 }, (_, index) => `acc_ofManyKeys${String(index).padStart(10, "0")}`);
			const like = await tx.selectFrom("accounts").selectAll().executeTakeFirstOrThrow();
			for (const [index, id] of accounts.entries())
				await tx
					.insertInto("accounts")
					.values({ ...like, id, name: `Customer ${index}`, operator: 0, wallet: null })
					.execute();
			const first = await tx.selectFrom("keys").selectAll().executeTakeFirstOrThrow();
			for (let from = 0; from < MANY_KEYS; from += 500) {
				const rows = Array.from({ length: 500 }, (_, index) => {
					const number = from + index;
					return {
						...first,
						id: crypto.randomUUID(),
						account_id: accounts[number % accounts.length] ?? "",
						hash: keyHash(`sk_inf_many-${number}`),
						type: "INFERENCE" as const,
						last6: String(number).padStart(6, "0"),
						description: number === 7_777 ? NEEDLE : `bot ${number}`,
						created_at: now - 60_000 - number,
						last_used_at: null,
					};
				});
				await tx.insertInto("keys").values(rows).execute();
			}
		});
	} finally {
		await admin.close();
	}
}

/** Fills in the form of the sign-in page. */
export async function signIn(page: Page, key: string = ADMIN_KEY): Promise<void> {
	await page.getByLabel("ADMIN key").fill(key);
	await page.getByRole("button", { name: "Sign in" }).click();
}

/** Serious and critical findings of axe-core on a page, as `rule: element`. */
export async function findings(page: Page, rules: readonly string[] = []): Promise<string[]> {
	// Put in by the debugger, which the page's policy does not bind.
	if (!(await page.evaluate("typeof axe === 'object'"))) await page.evaluate(axe.source);
	const options = { resultTypes: ["violations"], ...(rules.length === 0 ? {} : { runOnly: { type: "rule", values: rules } }) };
	const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as axe.AxeResults;
	return violations
		.filter(({ impact }) => impact === "serious" || impact === "critical")
		.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}
