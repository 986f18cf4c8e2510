/** Sample records for tests, as budgets write them. */
import { lineNano, type Nano, nano, type PicoPrice, pico, ZERO } from "../../ledger/nano.ts";
import type { MoneySource, PostLine, PostRecord, TouchRecord } from "../records.ts";

export const SAMPLE_DAY = 20_000;

/** 32 characters, distinct for each number. */
export function requestId(number: number): string {
	return `req${String(number).padStart(29, "0")}`;
}

/** One line paid from one source; its price is units x price as for a real request. */
export function sampleLine(sku: string, units: number, picoPrice: PicoPrice, source: MoneySource = "usd"): PostLine {
	const amount = lineNano(units, picoPrice);
	return { sku, units, picoPrice, from: amount > 0 ? [{ source, amount }] : [], overrun: ZERO };
}

/** A chat of 10 prompt and 20 output tokens for 4,000 nano-USD; `changes` replace members, the price follows the lines. */
export function samplePost(id: string, accountId: string, changes: Partial<PostRecord> = {}): PostRecord {
	const lines = changes.lines ?? [
		sampleLine("llama-llm-input-mtoken", 10, pico(80_000)),
		sampleLine("llama-llm-output-mtoken", 20, pico(160_000)),
	];
	return {
		t: "post",
		id,
		accountId,
		keyId: null,
		day: SAMPLE_DAY,
		admittedAtMs: SAMPLE_DAY * 86_400_000,
		doneAtMs: SAMPLE_DAY * 86_400_000 + 900,
		route: "chat",
		model: "llama",
		upstream: "local",
		status: 200,
		holdNano: nano(10_000),
		usage: {
			promptTokens: 10,
			completionTokens: 20,
			cachedTokens: 0,
			cacheWriteTokens: 0,
			reasoningTokens: 0,
			counted: false,
		},
		priceNano: priceOf(lines),
		...changes,
		lines,
	};
}

export const SAMPLE_PRICE = priceOf(samplePost("", "").lines);

export function sampleTouch(keyId: string, atMs: number): TouchRecord {
	return { t: "touch", keyId, atMs };
}

function priceOf(lines: readonly PostLine[]): Nano {
	return nano(lines.reduce((sum, line) => sum + line.from.reduce((part, { amount }) => part + amount, 0) + line.overrun, 0));
}
