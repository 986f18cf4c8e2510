/** A text as the pieces that are spoken one after the other: sentences, long ones cut at clauses. */
import type { SpeechLanguage } from "./port.ts";

export interface TextPiece {
	readonly text: string;
	/** Code points of the whole text up to the end of this piece, with the space after it. */
	readonly end: number;
	/** What ends it: the pause after it is longer after a sentence than within one. */
	readonly ends: "paragraph" | "sentence" | "clause" | "words";
}

interface Limits {
	/** Characters of a piece: about ten seconds. Longer ones take memory and keep other requests waiting. */
	readonly piece: number;
	/** Of the first: it is waited for. */
	readonly first: number;
	/** A sentence that is shorter is spoken with its neighbour: alone it would sound clipped. */
	readonly short: number;
}
const LETTERS: Limits = { piece: 160, first: 100, short: 20 };
const CHARACTERS: Limits = { piece: 50, first: 30, short: 6 };

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

/** A dot after these ends no sentence where another word follows. */
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

/** Where to cut a text that is longer than `limit`: after a clause, else a word, else within one. Never within a character. */
function cutAt(text: string, limit: number): number {
	const window = text.slice(0, limit);
	for (const pattern of [/[,;:—–、，；：][”"]?\s*(?=[^,;:—–、，；：]*$)/u, /\s+(?=\S*$)/u]) {
		const match = pattern.exec(window);
		const cut = match ? match.index + match[0].length : 0;
		if (cut > limit / 4) return cut;
	}
	const code = text.charCodeAt(limit - 1);
	return code >= 0xd800 && code <= 0xdbff ? limit - 1 : limit;
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

/** The pieces joined are the text; only those without a word are spoken by nobody (see `hasWords`). */
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
			open.length + sentence.length <= limit &&
			!paragraph &&
			(open.trim().length < limits.short || sentence.trim().length < limits.short);
		if (!joins) close();
		open += sentence;
		for (;;) {
			const most = parts.length === 0 ? limits.first : limits.piece;
			if (open.length <= most) break;
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
