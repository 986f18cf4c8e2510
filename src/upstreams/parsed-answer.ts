import { ANSWER_BOUNDS, cutJson, inTurns, type JsonBounds, LongStrings, nextTurn, parseInSteps } from "../wire/index.ts";
import { brokenAnswer } from "./failures.ts";

/** Smaller answers are parsed in no time, whatever is in them. */
const SMALL_BYTES = 32 * 1024;

const decoder = new TextDecoder("utf-8", { fatal: true });

/** JSON that an upstream answered. */
export interface ParsedAnswer {
	readonly value: unknown;
	/** What was parsed: of an answer over 4 MiB a copy with its long strings cut. */
	readonly json: Uint8Array;
	/** The strings that are cut in both. */
	readonly long: LongStrings;
}

/**
 * Parses an answer without stopping the event loop, however large it is and whatever it is made of.
 * @throws UpstreamFailure for what is no JSON, or is made of more than an answer is
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
		throw brokenAnswer(`status ${status}: the body is no JSON of an answer`, status);
	}
}
