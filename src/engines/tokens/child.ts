/** The token counter's own process. Its import alone takes a second or more: that is why it is not in the server. */
import { countTokens, setMergeCacheSize } from "gpt-tokenizer/encoding/o200k_base";
import { serveParent } from "../child-side.ts";
import { textPieces } from "./text-pieces.ts";

/** Words that were met before; each can have 2,000 characters. */
const CACHED_WORDS = 20_000;
/** No name of a control token is one: it counts as the text that it is. */
const PLAIN = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };

interface CountJob {
	readonly id: number;
	readonly text: string;
	readonly limitMs: number;
}

/** null: it took too long. */
function count({ text, limitMs }: CountJob): number | null {
	const endAt = performance.now() + limitMs;
	let tokens = 0;
	for (const piece of textPieces(text)) {
		if (performance.now() > endAt) return null;
		tokens += countTokens(piece, PLAIN);
	}
	return tokens;
}

serveParent({
	async start() {
		setMergeCacheSize(CACHED_WORDS);
		countTokens("The first count builds the tables.", PLAIN);
		return null;
	},
	async work(work) {
		const job = work as CountJob;
		return { id: job.id, tokens: count(job) };
	},
});
