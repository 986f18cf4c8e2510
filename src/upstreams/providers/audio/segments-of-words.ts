/** A piece of what was said. */
export interface TimedWord {
	readonly text: string;
	/** Seconds. */
	readonly start: number;
	readonly end: number;
}

/** A silence after which a new segment begins, and how long one may be: subtitles are read in that time. */
const PAUSE_SECONDS = 0.8;
const LONGEST_SECONDS = 7;
const SENTENCE_END = /[.!?。！？…]["'”’)\]]*$/;

/**
 * Segments of words with times, as subtitles want them: cut after sentences, at pauses, and where one grows too long.
 * `glue` stands between two words.
 */
export function segmentsOfWords(words: readonly TimedWord[], glue: string): TimedWord[] {
	const segments: TimedWord[] = [];
	let parts: TimedWord[] = [];
	const close = () => {
		const [first] = parts;
		const last = parts.at(-1);
		const text = parts
			.map((part) => part.text)
			.join(glue)
			.trim();
		if (first && last && text !== "") segments.push({ text, start: first.start, end: last.end });
		parts = [];
	};
	for (const word of words) {
		const isBlank = word.text.trim() === "";
		if (isBlank && parts.length === 0) continue;
		const last = parts.at(-1);
		const [first] = parts;
		if (!isBlank && first && last && (word.start - last.end > PAUSE_SECONDS || word.end - first.start > LONGEST_SECONDS)) close();
		parts.push(word);
		if (SENTENCE_END.test(word.text)) close();
	}
	close();
	return segments;
}
