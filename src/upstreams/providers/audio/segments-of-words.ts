/** A word or segment of the speech with its times. */
export interface TimedWord {
	readonly text: string;
	/** Seconds from the start of the audio. */
	readonly start: number;
	readonly end: number;
}

/** A longer silence starts a new segment. A segment has at most seven seconds, the time to read a subtitle. */
const PAUSE_SECONDS = 0.8;
const LONGEST_SECONDS = 7;
const SENTENCE_END = /[.!?。！？…]["'”’)\]]*$/;

/**
 * Joins words into segments for subtitles. A segment ends after a sentence, at a pause, or when it becomes too long.
 * @param glue the text between two words
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
