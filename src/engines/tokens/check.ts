import type { EngineCheck } from "../engine-check.ts";
import type { TokenCounter } from "./token-counter.ts";

/** Two tokens of o200k_base; the estimate would be four. */
const PROBE = "hello world";
const PROBE_TOKENS = 2;

/** The token counter for `turnpike doctor`: starts it and counts. */
export async function checkTokenCounter(counter: TokenCounter): Promise<EngineCheck> {
	const startedAt = performance.now();
	const tokens = await counter.countTokens(PROBE, "doctor");
	const ok = tokens === PROBE_TOKENS;
	const rssMb = Math.round(((await counter.rssBytes()) ?? 0) / 1e6);
	const text = ok
		? `counts after ${Math.round(performance.now() - startedAt)} ms, ${rssMb} MB of memory`
		: "does not run: tokens are estimated from bytes; npm install, then look at the log";
	return { name: "token counter", ok, text };
}
