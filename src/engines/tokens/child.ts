/** The token counter's own process. It is separate because its import alone takes a second or more. */
import { countTokens, setMergeCacheSize } from "gpt-tokenizer/encoding/o200k_base";
import { serveParent } from "../child-side.ts";
import { ownCpuMs } from "../work-meter.ts";
import { textPieces } from "./text-pieces.ts";

/** The number of cached words; each can have 2,000 characters. */
const CACHED_WORDS = 20_000;
/** Names of control tokens count as plain text. */
const PLAIN = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };

interface CountJob {
	readonly id: number;
	readonly text: string;
	readonly limitMs: number;
}

/** Counts tokens; `tokens` is null if it took too long. */
function count({ id, text, limitMs }: CountJob) {
	const fromMs = ownCpuMs();
	let tokens: number | null = 0;
	for (const piece of textPieces(text)) {
		if (ownCpuMs() - fromMs > limitMs) {
			tokens = null;
			break;
		}
		tokens += countTokens(piece, PLAIN);
	}
	return { id, tokens, workMs: ownCpuMs() - fromMs };
}

serveParent({
	async start() {
		setMergeCacheSize(CACHED_WORDS);
		countTokens("The first count builds the tables.", PLAIN);
		return null;
	},
	async work(work) {
		return count(work as CountJob);
	},
});
