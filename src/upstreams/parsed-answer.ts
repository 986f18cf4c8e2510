import { ANSWER_BOUNDS, cutJson, inTurns, type JsonBounds, LongStrings, nextTurn, parseInSteps } from "../wire/index.ts";
import { brokenAnswer } from "./failures.ts";

/** Smaller answers are parsed at once: their content cannot make that slow. */
const SMALL_BYTES = 32 * 1024;

const decoder = new TextDecoder("utf-8", { fatal: true });

/** The JSON of an upstream's answer. */
export interface ParsedAnswer {
	readonly value: unknown;
	/** The parsed bytes: of an answer over 4 MiB a copy with its long strings cut. */
	readonly json: Uint8Array;
	/** The strings that are cut in both. */
	readonly long: LongStrings;
}

/**
 * Parses an answer of any size and content without blocking the event loop.
 * @throws UpstreamFailure for invalid JSON, or an answer that exceeds the bounds
 */
export async function parsedAnswer(bytes: Uint8Array, status: number, bounds: JsonBounds = ANSWER_BOUNDS): Promise<ParsedAnswer> {
	try {
		if (bytes.length <= SMALL_BYTES) return { value: JSON.parse(decoder.decode(bytes)), json: bytes, long: LongStrings.none };
		const { json, cuts } = await inTurns(cutJson(bytes, bounds));
		await nextTurn();
		const value = await inTurns(parseInSteps(json));
		await nextTurn();
		return { value, json, long: cuts.length === 0 ? LongStrings.none : new LongStrings(bytes, cuts) };
	} catch {
		throw brokenAnswer(`status ${status}: the body is not a JSON answer`, status);
	}
}
