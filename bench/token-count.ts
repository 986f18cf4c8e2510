/** How fast texts are counted where an upstream tells no usage: in the counter's own process, one after the other. */
import { TokenCounter } from "../src/engines/tokens/index.ts";
import { silentLog } from "../src/telemetry/log.ts";

const SENTENCE =
	"The quick brown fox jumps over the lazy dog; it isn't tired, at 12:30 or 1,234.5 km away.\n\n\tReally? Ja, très bien. 日本語も。 ";
/** About 4 KB: a long answer. */
const TEXT = SENTENCE.repeat(32);

export interface TokenRun {
	readonly tokensPerSecond: number;
	readonly textsPerSecond: number;
	/** Characters of each text. */
	readonly characters: number;
}

export async function measureTokenCount(seconds: number): Promise<TokenRun> {
	const counter = new TokenCounter({ log: silentLog });
	try {
		await counter.warm();
		await counter.countTokens(TEXT, "test");
		const startedAt = performance.now();
		let tokens = 0;
		let texts = 0;
		while (performance.now() - startedAt < seconds * 1_000) {
			const counts = await Promise.all(Array.from({ length: 16 }, () => counter.countTokens(TEXT, "test")));
			tokens += counts.reduce((sum, count) => sum + count, 0);
			texts += counts.length;
		}
		const took = (performance.now() - startedAt) / 1_000;
		return { tokensPerSecond: tokens / took, textsPerSecond: texts / took, characters: TEXT.length };
	} finally {
		await counter.stop();
	}
}
