import { encodingOfShortWords } from "./east-asian-words.ts";

/** Detects texts of a few East Asian letters, and katakana of half width, by signs that other texts do not have. */

const EAST_ASIAN =
	/^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\u30fb\u30fc\uff00-\uffef]+$/u;
const NOT_ASCII = /[^\0-\u007f]+/g;
const FOREIGN = /[^\0-\u007f]/;
const BETWEEN_WORDS = /[\s\0-/:-@[-`{-\u007f]+/;
/** Two kana or more in Shift-JIS, and two of half width in EUC-JP, as windows-1252 shows their bytes. */
const SHIFT_JIS_KANA = /(?:\x82[\x9f-\xf1]|\x83[\x40-\x7e\x80-\x96]){2}/;
const EUC_HALF_WIDTH = /(?:\x8e[\xa6-\xdf]){2}/;

/** Katakana of half width are one byte each in Shift-JIS: signs of Western pages up to 0xBF, capital letters above. */
const HALF_WIDTH = /[\uff66-\uff9f]/gu;
const HALF_WIDTH_RUN = /[\uff66-\uff9f]+/gu;
/** Voicing marks behind letters that have no voice, and small letters or marks at the beginning. */
const MISPLACED = /(?<![ｳｶ-ﾄﾊ-ﾎ])ﾞ|(?<![ﾊ-ﾎ])ﾟ|^[ｧ-ｰﾞﾟ]|ｰｰ/u;
const LAST_SIGN = "ｿ";
const MIN_HALF_WIDTH = 3;
const SIGNS_SHARE = 0.3;
/** Runs that may as well be pairs of Chinese (GB 2312) or Korean (KS X 1001). */
const RAW_RUN = /[\x80-\xff]+/g;
const PAIRS = /^(?:[\xb0-\xd7][\xa1-\xfe])+$/;
const HAS_KANJI = /[\x81-\x9f\xe0-\xfc]/;
/** Kanji of level 1 (JIS X 0208), which are nearly all in use. */
const COMMON_KANJI = /^[\x88-\x97]/;
const MOSTLY = 0.8;

/** Returns the encoding of a short East Asian text; null if it is not certain. */
export function shortTextEncoding(bytes: Uint8Array): string | null {
	const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
	if (SHIFT_JIS_KANA.test(raw) && foreignOf(bytes, "shift_jis") !== null) return "shift_jis";
	if (EUC_HALF_WIDTH.test(raw) && foreignOf(bytes, "euc-jp") !== null) return "euc-jp";
	const byWords = isWestern(bytes) ? null : encodingOfShortWords(bytes);
	return byWords ?? (isHalfWidth(bytes, raw) ? "shift_jis" : null);
}

/** Returns the characters beside ASCII; null if some are not of East Asia. */
function foreignOf(bytes: Uint8Array, encoding: "shift_jis" | "euc-jp"): string | null {
	try {
		const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
		const foreign = text.match(NOT_ASCII)?.join("") ?? "";
		return EAST_ASIAN.test(foreign) ? text : null;
	} catch {
		return null;
	}
}

/** Returns true for Shift-JIS whose letters are katakana of half width, perhaps beside common kanji. */
function isHalfWidth(bytes: Uint8Array, raw: string): boolean {
	const text = foreignOf(bytes, "shift_jis");
	const kana = text?.match(HALF_WIDTH)?.length ?? 0;
	if (text === null || kana < MIN_HALF_WIDTH) return false;
	const runs = text.match(HALF_WIDTH_RUN) ?? [];
	if (runs.some((run) => MISPLACED.test(run))) return false;
	if (text.match(/[a-z][\uff66-\uff9f]|[\uff66-\uff9f][a-z]/u) !== null) return false;
	if (HAS_KANJI.test(raw)) return hasCommonKanji(raw);
	if ((raw.match(RAW_RUN) ?? []).every((run) => PAIRS.test(run))) return false;
	const signs = (text.match(HALF_WIDTH) ?? []).filter((letter) => letter <= LAST_SIGN).length;
	return signs >= kana * SIGNS_SHARE;
}

function hasCommonKanji(raw: string): boolean {
	const kanji = raw.match(/[\x81-\x9f\xe0-\xfc][\x40-\xfc]/g) ?? [];
	return kanji.filter((pair) => COMMON_KANJI.test(pair) || pair.startsWith("\x81")).length >= kanji.length * MOSTLY;
}

/** Returns true unless foreign letters stand alone in words with signs, or with a capital behind a small letter. */
function isWestern(bytes: Uint8Array): boolean {
	const text = new TextDecoder("windows-1252").decode(bytes);
	const words = text.split(BETWEEN_WORDS).filter((word) => FOREIGN.test(word));
	if (words.some((word) => /[a-z]/i.test(word))) return true;
	return !words.some((word) => word.length >= 4 && (/[^\p{L}]|[ªºµ]/u.test(word) || /\p{Ll}\p{Lu}/u.test(word)));
}
