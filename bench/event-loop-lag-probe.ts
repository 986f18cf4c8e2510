/**
 * A process of its own that measures how late its event loop is: a timer due each millisecond, its delay
 * noted. `with` it holds and posts on the real budgets, journal and store meanwhile, `without` it only counts.
 *
 *   bun event-loop-lag-probe.ts with|without FOLDER SECONDS POSTS_PER_SECOND ACCOUNTS
 */
import { generateSecretKey, keyHash } from "../src/access/index.ts";
import { type Caller, createBudgets, type NodeBudgets } from "../src/budgets/index.ts";
import { nano, picoPerUnit } from "../src/ledger/nano.ts";
import { createAccount, createKey, openAdmin } from "../src/store/admin.ts";
import { openStore } from "../src/store/index.ts";
import { systemClock } from "../src/telemetry/clock.ts";

const [mode, folder = "", secondsText = "5", rateText = "2000", accountsText = "1000"] = process.argv.slice(2);
const seconds = Number(secondsText);
const postsPerSecond = Number(rateText);
const TICK_MS = 1;
const WARM_MS = 1_000;
const HOLD = nano(1_000_000);
const PRICE = picoPerUnit(1.5, 1_000_000);

async function makeCallers(hashes: string[]): Promise<void> {
	const admin = openAdmin(folder);
	for (let index = 0; index < Number(accountsText); index++) {
		const account = await createAccount(admin, { name: `bench ${index}`, startingCreditUsd: "1000" });
		const key = generateSecretKey("INFERENCE");
		const hash = keyHash(key);
		await createKey(admin, { accountId: account.id, type: "INFERENCE", hash, last6: key.slice(-6), description: "bench" });
		hashes.push(hash);
	}
	await admin.close();
}

/** What a request with a price does to the books: hold, post, wait until it is durable. */
async function spend(budgets: NodeBudgets, caller: Caller): Promise<void> {
	const context = {
		requestId: crypto.randomUUID().replaceAll("-", ""),
		route: "chat",
		model: "bench-model",
		admittedAtMs: Date.now(),
	};
	const hold = await budgets.hold(caller, context, HOLD);
	const usage = {
		promptTokens: 24,
		completionTokens: 56,
		cachedTokens: 0,
		cacheWriteTokens: 0,
		reasoningTokens: 0,
		counted: false,
	};
	const lines = [
		{ sku: "bench-model-llm-input-mtoken", units: 24, picoPrice: PRICE },
		{ sku: "bench-model-llm-output-mtoken", units: 56, picoPrice: PRICE },
	];
	await hold.post({ lines, usage, status: 200, upstream: "bench" })?.durable;
}

/** Runs `work` as often as `postsPerSecond` says; gives the delays of the ticks after warming up. */
function watch(work: () => void): Promise<number[]> {
	return new Promise((resolve) => {
		const delays: number[] = [];
		const started = performance.now();
		let due = started + TICK_MS;
		let done = 0;
		const tick = () => {
			const now = performance.now();
			const elapsed = now - started;
			if (elapsed > WARM_MS) delays.push(Math.max(0, now - due));
			for (const wanted = (elapsed * postsPerSecond) / 1_000; done < wanted; done++) work();
			if (elapsed > WARM_MS + seconds * 1_000) return resolve(delays);
			due = performance.now() + TICK_MS;
			setTimeout(tick, TICK_MS);
		};
		setTimeout(tick, TICK_MS);
	});
}

async function withLedger(): Promise<{ delays: number[]; posts: number }> {
	const hashes: string[] = [];
	const opened = await openStore({ dataDir: folder });
	await makeCallers(hashes);
	const budgets = createBudgets({ store: opened.store, journal: opened.journal, clock: systemClock, failedRequests: () => 0 });
	const callers: Caller[] = [];
	for (const hash of hashes) {
		const caller = await budgets.caller(hash);
		if (caller === null) throw new Error("a key of the bench is unknown");
		callers.push(caller);
	}
	let asked = 0;
	let posts = 0;
	const failures: unknown[] = [];
	const delays = await watch(() => {
		const caller = callers[asked++ % callers.length];
		if (caller === undefined) return;
		spend(budgets, caller).then(
			() => posts++,
			(error: unknown) => failures.push(error),
		);
	});
	budgets.close();
	await opened.store.close();
	if (failures.length > 0) throw failures[0];
	if (posts !== asked) throw new Error(`${posts} posts of ${asked} became durable`);
	return { delays, posts };
}

async function withoutLedger(): Promise<{ delays: number[]; posts: number }> {
	let posts = 0;
	const delays = await watch(() => {
		posts++;
	});
	return { delays, posts };
}

const { delays, posts } = mode === "with" ? await withLedger() : await withoutLedger();
delays.sort((a, b) => a - b);
const at = (share: number) => delays[Math.min(delays.length - 1, Math.floor(delays.length * share))] ?? 0;
console.log(JSON.stringify({ p50: at(0.5), p99: at(0.99), max: at(1), posts }));
process.exit(0);
