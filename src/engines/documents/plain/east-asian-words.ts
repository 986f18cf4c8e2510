/** Detects East Asian encodings by words. They share their bytes, so a wrong encoding also gives characters, but no words. */

const ENCODINGS = ["shift_jis", "euc-jp", "gb18030", "big5", "euc-kr"] as const;
type EastAsian = (typeof ENCODINGS)[number];

/** Characters between the letters of such texts (General Punctuation, signs of units, arrows, boxes, figures in circles). */
const BETWEEN =
	/[\u00a7\u00a8\u00b0\u00b1\u00b4\u00b6\u00b7\u00d7\u00f7\u2010-\u2312\u2460-\u266f\u3000-\u3020\u3030\uff01-\uff65\uffe0-\uffe6]/gu;
const LETTERS = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u30fb\u30fc]+$/u;
const KANA = /[\u3041-\u3096\u30a1-\u30fc]/u;
/** Shift-JIS has one for almost every byte of other encodings. */
const HALF_WIDTH = /[\uff66-\uff9f]/u;
const NOT_ASCII = /[^\0-\u007f]+/g;
/**
 * The most frequent syllables of Korean texts, surnames and places: they make up half of a text, but one in thirty of all
 * Hangul.
 */
const FREQUENT_HANGUL = new Set(
	"이다는가의에을를은한하고로도지사서시기인대자어리해나아정수일있그것들으라제니스전부상요세공보구장주성안여원소조국과만선무경동학생면적김최박강윤임신오권황송홍광울산북남청천계명화용차회업문비연금년월",
);
/** Letters that stand alone in laughs and sobs. */
const LONE_LETTERS = /[ㄱ-ㅎㅜㅠㅡ]/u;
const HANGUL_SHARE = 0.4;

const MIN_LETTERS = 4;
const MIN_HANGUL = 6;
const CERTAIN = 0.75;
const CLEARLY_LESS = 0.3;
const MIN_SHORT_LETTERS = 2;
const MUCH_LESS = 0.7;
/** The number of letters that are searched for words. */
const MAX_LETTERS = 4_000;

interface Reading {
	readonly encoding: EastAsian;
	readonly letters: string;
	/** The share of letters in words, 0 to 1. */
	readonly share: number;
}

/** Returns the encoding whose text consists of words, if those of all others clearly do not; null if that is not certain. */
export function encodingByWords(bytes: Uint8Array): EastAsian | null {
	const readings = ENCODINGS.flatMap((encoding) => readingOf(bytes, encoding) ?? []).sort((a, b) => b.share - a.share);
	const [best] = readings;
	if (best === undefined || best.share < CERTAIN) return null;
	const count = best.letters.replaceAll(" ", "").length;
	if (count < (/\p{Script=Hangul}/u.test(best.letters) ? MIN_HANGUL : MIN_LETTERS)) return null;
	const rival = readings.find(({ letters }) => letters !== best.letters);
	return rival === undefined || rival.share <= best.share - CLEARLY_LESS ? best.encoding : null;
}

/** Returns the encoding in which a text of two letters or more consists of words, if it has hardly any in all others; else null. */
export function encodingOfShortWords(bytes: Uint8Array): EastAsian | null {
	const readings = ENCODINGS.flatMap((encoding) => readingOf(bytes, encoding) ?? []).sort((a, b) => b.share - a.share);
	const [best] = readings;
	if (best === undefined || best.share < CERTAIN || best.letters.replaceAll(" ", "").length < MIN_SHORT_LETTERS) return null;
	const rival = readings.find(({ letters }) => letters !== best.letters);
	return rival === undefined || rival.share <= best.share - MUCH_LESS ? best.encoding : null;
}

/** Returns the share of an East Asian text in words, 0 to 1; null if it has other letters, too. */
export function wordShare(text: string): number | null {
	const letters = lettersOf(text);
	return letters === null ? null : shareOf(letters, false);
}

function readingOf(bytes: Uint8Array, encoding: EastAsian): Reading | null {
	try {
		// The end of a sample may split a character.
		const letters = lettersOf(new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true }));
		return letters === null ? null : { encoding, letters, share: shareOf(letters, /jis|jp/.test(encoding)) };
	} catch {
		return null;
	}
}

/** Returns the runs of letters other than ASCII; null if some are not of an East Asian script. */
function lettersOf(text: string): string | null {
	const foreign = (text.match(NOT_ASCII) ?? []).map((run) => run.replace(BETWEEN, " ").trim()).filter((run) => run !== "");
	const all = foreign.join(" ").replaceAll(/ +/g, " ");
	return LETTERS.test(all.replaceAll(" ", "")) ? all.slice(0, MAX_LETTERS) : null;
}

/**
 * Returns the share of letters in words.
 * @param withKana whether kana are letters of the language: encodings of the others have them, too
 */
function shareOf(letters: string, withKana: boolean): number {
	let all = 0;
	let inWords = 0;
	let hangul = 0;
	let frequent = 0;
	for (const { segment, isWordLike } of segmenter().segment(letters))
		for (const letter of segment) {
			if (letter === " ") continue;
			all += 1;
			if (/\p{Script=Hangul}/u.test(letter)) {
				hangul += 1;
				if (FREQUENT_HANGUL.has(letter) || LONE_LETTERS.test(letter)) frequent += 1;
			} else if (HALF_WIDTH.test(letter)) continue;
			else if (KANA.test(letter) ? withKana : isWordLike === true && [...segment].length > 1) inWords += 1;
		}
	// Hangul has no dictionary, but every text has some of its frequent syllables.
	return (inWords + Math.min(hangul, frequent / HANGUL_SHARE)) / all;
}

let words: Intl.Segmenter | null = null;
/** Returns a segmenter with the Unicode library's dictionary of Chinese and Japanese words. */
function segmenter(): Intl.Segmenter {
	words ??= new Intl.Segmenter("ja", { granularity: "word" });
	return words;
}
