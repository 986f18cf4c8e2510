/** Splits a text into spoken pieces: sentences, long ones cut at clauses. */
import type { SpeechLanguage } from "./port.ts";

export interface TextPiece {
	readonly text: string;
	/** Code points of the whole text up to the end of this piece, including the space after it. */
	readonly end: number;
	/** The kind of boundary: the pause after a sentence is longer than within one. */
	readonly ends: "paragraph" | "sentence" | "clause" | "words";
}

interface Limits {
	/**
	 * The most letters of a piece: under five seconds of speech, which a slow core computes in the same time. Other requests wait
	 * for its end.
	 */
	readonly piece: number;
	/** The same limit for the first piece, for which the caller waits. */
	readonly first: number;
	/** A shorter sentence is spoken with its neighbour, because alone it would sound clipped. */
	readonly short: number;
}
const LETTERS: Limits = { piece: 68, first: 60, short: 20 };
const CHARACTERS: Limits = { piece: 17, first: 15, short: 6 };
/** A digit of a number is spoken as a word or two: "three hundred and". */
const LETTERS_OF_A_DIGIT = 5;

const LOCALES: Readonly<Record<SpeechLanguage, string>> = {
	"en-us": "en",
	"en-gb": "en",
	es: "es",
	fr: "fr",
	hi: "hi",
	it: "it",
	ja: "ja",
	"pt-br": "pt",
	zh: "zh",
};

/** A dot after these does not end a sentence if another word follows. */
const ABBREVIATION =
	/(?:^|[\s(“"])(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|e\.g|i\.e|No|Gen|Sgt|Capt|Lt|Col|Gov|Sen|Rep|Rev|Mt|approx|Sra?|Srta|Ud|M|Mme|Dott|Sig|[A-Z])\.\s*$/;
const SENTENCE_END = /[.!?…。！？।]["”’')\]」』]*\s*$/u;
const CLAUSE_END = /[,;:—–、，；：)][”"]?\s*$/u;

function sentencesOf(text: string, language: SpeechLanguage): string[] {
	const sentences: string[] = [];
	let open = "";
	for (const { segment } of new Intl.Segmenter(LOCALES[language], { granularity: "sentence" }).segment(text)) {
		open += segment;
		if (ABBREVIATION.test(open.slice(-24)) && !/\n\s*$/.test(open.slice(-24))) continue;
		sentences.push(open);
		open = "";
	}
	if (open !== "") sentences.push(open);
	return sentences;
}

/** Counts the letters to speak, including those of the words for digits. */
function lettersOf(text: string): number {
	let digits = 0;
	for (const _ of text.matchAll(/\p{Nd}/gu)) digits += 1;
	return text.length + digits * (LETTERS_OF_A_DIGIT - 1);
}

/** Returns the longest beginning that has at most so many letters. */
function beginningOf(text: string, letters: number): string {
	let left = letters;
	let end = 0;
	for (const character of text) {
		left -= lettersOf(character);
		if (left < 0 && end > 0) break;
		end += character.length;
	}
	return text.slice(0, end);
}

/** Returns where to cut a text with more letters than `limit`: after a clause, else a word, else within one. */
function cutAt(text: string, limit: number): number {
	const window = beginningOf(text, limit);
	const clause = lengthUpTo(/[,;:—–、，；：][”"]?\s*(?=[^,;:—–、，；：]*$)/u, window);
	if (clause > window.length / 4) return clause;
	// Cuts into parts of similar length, because a single word at the end sounds lost.
	const letters = lettersOf(text);
	const even = beginningOf(text, Math.ceil(letters / Math.ceil(letters / limit)) + LETTERS_OF_A_DIGIT);
	for (const part of [even, window]) {
		const word = lengthUpTo(/\s+(?=\S*$)/u, part);
		if (word > part.length / 4) return word;
	}
	return window.length;
}

function lengthUpTo(pattern: RegExp, text: string): number {
	const match = pattern.exec(text);
	return match === null ? 0 : match.index + match[0].length;
}

function endOf(piece: string): TextPiece["ends"] {
	if (/\n\s*\n\s*$/.test(piece)) return "paragraph";
	if (SENTENCE_END.test(piece) || /\n\s*$/.test(piece)) return "sentence";
	return CLAUSE_END.test(piece) ? "clause" : "words";
}

const codePoints = (text: string): number => {
	let count = 0;
	for (const _ of text) count += 1;
	return count;
};

/** Splits the text into pieces whose concatenation is the text. Pieces without a word are not spoken (see `hasWords`). */
export function splitText(text: string, language: SpeechLanguage): TextPiece[] {
	const limits = language === "ja" || language === "zh" ? CHARACTERS : LETTERS;
	const parts: string[] = [];
	let open = "";
	const close = () => {
		if (open !== "") parts.push(open);
		open = "";
	};
	for (const sentence of sentencesOf(text, language)) {
		const limit = parts.length === 0 ? limits.first : limits.piece;
		const paragraph = endOf(open) === "paragraph";
		const joins =
			lettersOf(open) + lettersOf(sentence) <= limit &&
			!paragraph &&
			(open.trim().length < limits.short || sentence.trim().length < limits.short);
		if (!joins) close();
		open += sentence;
		for (;;) {
			const most = parts.length === 0 ? limits.first : limits.piece;
			if (lettersOf(open) <= most) break;
			const cut = cutAt(open, most);
			parts.push(open.slice(0, cut));
			open = open.slice(cut);
		}
	}
	close();
	let end = 0;
	return parts.map((part) => {
		end += codePoints(part);
		return { text: part, end, ends: endOf(part) };
	});
}
