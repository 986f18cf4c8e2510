import { type Finding, fault, ok } from "../../telemetry/finding.ts";
import type { TokenCounter } from "./token-counter.ts";

/** Two tokens of o200k_base; the estimate would be four. */
const PROBE = "hello world";
const PROBE_TOKENS = 2;

/** Checks the token counter for `turnpike doctor`: starts it and counts. */
export async function checkTokenCounter(counter: TokenCounter): Promise<Finding> {
	const startedAt = performance.now();
	const tokens = await counter.countTokens(PROBE, "doctor");
	const name = "token counter";
	if (tokens !== PROBE_TOKENS) return fault(name, "does not run: tokens are estimated from bytes", "npm install");
	const rssMb = Math.round(((await counter.rssBytes()) ?? 0) / 1e6);
	return ok(name, `counts after ${Math.round(performance.now() - startedAt)} ms, ${rssMb} MB of memory`);
}
