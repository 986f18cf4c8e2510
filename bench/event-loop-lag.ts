/** What the ledger adds to the delay of the event loop: the same timers with it and without it, in turn. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";

const POSTS_PER_SECOND = 2_000;
const ACCOUNTS = 1_000;

/** Delay of a timer, in milliseconds. */
export interface Delay {
	readonly p50: number;
	readonly p99: number;
	readonly max: number;
}

export interface LagRun {
	readonly postsPerSecond: number;
	readonly accounts: number;
	readonly withoutLedger: Delay;
	readonly withLedger: Delay;
}

async function probe(mode: "with" | "without", folder: string, seconds: number): Promise<Delay> {
	mkdirSync(folder, { recursive: true });
	const script = join(import.meta.dir, "event-loop-lag-probe.ts");
	const args = [mode, folder, String(seconds), String(POSTS_PER_SECOND), String(ACCOUNTS)];
	const child = Bun.spawn([process.execPath, "--no-env-file", "--no-install", script, ...args], { stderr: "inherit" });
	const output = await new Response(child.stdout).text();
	if ((await child.exited) !== 0) throw new Error("the event loop could not be measured");
	const delay = JSON.parse(output) as Delay;
	console.log(`event loop ${mode} the ledger: p50 ${delay.p50.toFixed(2)} ms, p99 ${delay.p99.toFixed(2)} ms`);
	return delay;
}

export async function measureEventLoopLag(folder: string, seconds: number): Promise<LagRun> {
	const withoutLedger = await probe("without", join(folder, "lag-without"), seconds);
	const withLedger = await probe("with", join(folder, "lag-with"), seconds);
	return { postsPerSecond: POSTS_PER_SECOND, accounts: ACCOUNTS, withoutLedger, withLedger };
}
