import { analyse } from "chardet";
import { DocumentFault } from "../document-fault.ts";
import { eastAsianEncoding, isDoubtful } from "./east-asian.ts";
import { encodingByWords } from "./east-asian-words.ts";
import { hzText } from "./hz.ts";
import { shortTextEncoding } from "./short-texts.ts";

/** The detection examines this many bytes; the rest is decoded accordingly. */
const SAMPLE_BYTES = 256 * 1_024;
/** Maps chardet's names to those of the WHATWG standard, or to a superset of the encoding. */
const NAMES: Readonly<Record<string, string>> = {
	"ISO-8859-1": "windows-1252",
	"ISO-8859-9": "windows-1254",
	"ISO-8859-8": "windows-1255",
	GB18030: "gb18030",
	ASCII: "utf-8",
};
/** East Asian encodings: Western text decoded as one of these has few of their letters. */
const MANY_BYTES = /^(shift_jis|gb18030|euc-|big5|iso-2022)/i;

/** The scripts of a single text, beside Latin letters. */
const SCRIPTS = [
	/^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}]+$/u,
	/^[\p{Script=Hangul}\p{Script=Han}]+$/u,
	...["Cyrillic", "Greek", "Arabic", "Hebrew", "Thai", "Devanagari", "Armenian", "Georgian", "Bengali", "Tamil"].map(
		(script) => new RegExp(`^\\p{Script=${script}}+$`, "u"),
	),
];
/** Code pages with one script beside ASCII: text of another page shows some letters of a third script. */
const PAGE_SCRIPTS: readonly (readonly [page: RegExp, letters: RegExp])[] = [
	[/^(windows-1251|koi8-|iso-8859-5|ibm866|x-mac-cyrillic)/, /\p{Script=Cyrillic}/gu],
	[/^(windows-1253|iso-8859-7)/, /\p{Script=Greek}/gu],
	[/^(windows-1255|iso-8859-8)/, /\p{Script=Hebrew}/gu],
	[/^(windows-1256|iso-8859-6)/, /\p{Script=Arabic}/gu],
	[/^windows-874/, /\p{Script=Thai}/gu],
];
const NEARLY_ALL = 0.9;
/** Text has no C1 controls (ISO 6429); two signs within a word mean another code page. */
const CONTROLS = /[\u0080-\u009f]/;
const SIGN_IN_WORD = /\p{L}[\u00a1-\u00a9\u00ac-\u00b3\u00b6\u00b8\u00b9\u00bc-\u00bf](?=\p{Ll})/gu;

/** One broken character in this many is accepted. */
const FAULTLESS_CHARS = 1_000;

const LATIN = /^(windows-125[047]|iso-8859-[1249]|iso-8859-1[0-6])$/i;
const CLEARLY_BETTER = 20;

type Encoding = ConstructorParameters<typeof TextDecoder>[0];

/**
 * Decodes text of any encoding: by its byte order mark, as UTF-8 if it is valid, as UTF-16 by its zero bytes, otherwise by
 * statistics.
 * @throws {DocumentFault} if it is not text
 */
export function decodeText(bytes: Uint8Array): string {
	const marked = markedEncoding(bytes);
	if (marked !== null) return decode(bytes, marked);
	const thirtyTwo = thirtyTwoBits(bytes);
	if (thirtyTwo !== null) return decode(bytes, thirtyTwo);
	const sixteen = sixteenBits(bytes);
	if (sixteen !== null) return decode(bytes, sixteen);
	refuseBinary(bytes);
	try {
		const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
		// Japanese mail: all its bytes are ASCII, and its letters are between escapes.
		return text.includes("\x1b$") ? decode(bytes, "iso-2022-jp") : (hzText(text) ?? text);
	} catch {
		return decode(bytes, guess(bytes));
	}
}

function markedEncoding([first, second, third, fourth]: Uint8Array): string | null {
	if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
	if (first === 0xff && second === 0xfe) return third === 0 && fourth === 0 ? "utf-32le" : "utf-16le";
	if (first === 0xfe && second === 0xff) return "utf-16be";
	if (first === 0 && second === 0 && third === 0xfe && fourth === 0xff) return "utf-32be";
	return null;
}

/** Decodes UTF-32 without a mark: each unit is a character, none above 0x10FFFF; null if it is not. */
function thirtyTwoBits(bytes: Uint8Array): string | null {
	if (bytes.length < 8 || bytes.length % 4 !== 0) return null;
	const view = new DataView(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, SAMPLE_BYTES));
	for (const littleEndian of [true, false]) {
		let isText = true;
		for (let at = 0; isText && at < view.byteLength; at += 4) {
			const point = view.getUint32(at, littleEndian);
			isText = point <= 0x10ffff && (point >= 0x20 || (point >= 9 && point <= 13)) && (point < 0xd800 || point > 0xdfff);
		}
		if (isText) return littleEndian ? "utf-32le" : "utf-32be";
	}
	return null;
}

/** Decodes UTF-16 without a mark: Latin letters have a zero in every second byte, on one side only; null if it is not. */
function sixteenBits(bytes: Uint8Array): string | null {
	if (bytes.length < 4 || bytes.length % 2 === 1) return null;
	const length = Math.min(bytes.length, SAMPLE_BYTES) & ~1;
	let even = 0;
	let odd = 0;
	for (let at = 0; at < length; at += 2) {
		if (bytes[at] === 0) even += 1;
		if (bytes[at + 1] === 0) odd += 1;
	}
	const pairs = length / 2;
	if (odd > pairs * 0.3 && even < pairs * 0.01) return "utf-16le";
	if (even > pairs * 0.3 && odd < pairs * 0.01) return "utf-16be";
	if (even + odd === 0) return null;
	const [certain, other] = (["utf-16le", "utf-16be"] as const).filter((encoding) =>
		isOneScript(bytes.subarray(0, length), encoding),
	);
	return other === undefined ? (certain ?? null) : null;
}

/** Returns true if the text has one script. Other data has controls, half pairs, unassigned characters or more scripts. */
function isOneScript(bytes: Uint8Array, encoding: "utf-16le" | "utf-16be"): boolean {
	const text = new TextDecoder(encoding).decode(bytes);
	if (/[^\P{C}\t\n\f\r\p{Cf}]|\ufffd/u.test(text)) return false;
	const foreign = text.replace(/[\p{Script=Common}\p{Script=Inherited}\p{Script=Latin}]/gu, "");
	return foreign.length * 2 >= text.length && SCRIPTS.some((script) => script.test(foreign));
}

/** Throws for a zero byte or many control characters, which text never has. */
function refuseBinary(bytes: Uint8Array): void {
	const sample = bytes.subarray(0, SAMPLE_BYTES);
	let controls = 0;
	for (const byte of sample) {
		if (byte === 0) throw unsupported();
		if (byte < 32 && !(byte >= 7 && byte <= 13) && byte !== 27) controls += 1;
	}
	if (controls > sample.length / 100) throw unsupported();
}

const unsupported = () => new DocumentFault("unsupported", "The file has an unsupported type, and is not text");

function guess(bytes: Uint8Array): string {
	const sample = bytes.subarray(0, SAMPLE_BYTES);
	const byWords = encodingByWords(sample);
	if (byWords !== null) return byWords;
	const short = shortTextEncoding(sample);
	if (short !== null) return short;
	const read = new TextDecoder("windows-1252").decode(sample);
	if (isDoubtful(read)) {
		const eastern = eastAsianEncoding(sample);
		if (eastern !== null) return eastern;
	}
	const guesses = analyse(sample);
	const isWestern = !CONTROLS.test(read) && !hasSignsInWords(read);
	const western = isWestern ? (guesses.find(({ name }) => name === "ISO-8859-1")?.confidence ?? 0) : -CLEARLY_BETTER;
	for (const { name, confidence } of guesses) {
		const encoding = NAMES[name] ?? name.toLowerCase();
		if (encoding === "utf-8" || encoding.startsWith("utf-") || !isKnownEncoding(encoding) || !fits(sample, encoding)) continue;
		if (MANY_BYTES.test(encoding) && confidence < 20) continue;
		// Languages with Latin letters look alike in short texts, so the most common page is preferred.
		if (LATIN.test(encoding) && confidence < western + CLEARLY_BETTER) return "windows-1252";
		return encoding;
	}
	return CONTROLS.test(read) && fits(sample, "ibm866") ? "ibm866" : "windows-1252";
}

const hasSignsInWords = (text: string): boolean => (text.match(SIGN_IN_WORD)?.length ?? 0) > 1;

/** Returns true if the decoded result can be text of the encoding. */
function fits(sample: Uint8Array, encoding: string): boolean {
	if (MANY_BYTES.test(encoding)) return decodesCleanly(sample, encoding);
	const text = new TextDecoder(encoding as Encoding).decode(sample);
	if (CONTROLS.test(text)) return false;
	const letters = PAGE_SCRIPTS.find(([page]) => page.test(encoding))?.[1];
	if (letters === undefined) return !hasSignsInWords(text);
	const foreign = text.match(/[^\0-\u007f]/gu)?.filter((sign) => /\p{L}|\p{M}/u.test(sign)).length ?? 0;
	return (text.match(letters)?.length ?? 0) >= foreign * NEARLY_ALL;
}

function isKnownEncoding(encoding: string): boolean {
	try {
		new TextDecoder(encoding as Encoding);
		return true;
	} catch {
		return false;
	}
}

/** Tolerates a split character at the end of a sample, and a broken one in a long text. */
function decodesCleanly(sample: Uint8Array, encoding: string): boolean {
	const text = new TextDecoder(encoding as Encoding).decode(sample, { stream: true });
	return (text.match(/\ufffd/g)?.length ?? 0) <= text.length / FAULTLESS_CHARS;
}

function decode(bytes: Uint8Array, encoding: string): string {
	if (encoding.startsWith("utf-32")) return utf32(bytes, encoding === "utf-32le").replace(/^\ufeff/, "");
	const text = new TextDecoder(encoding as Encoding).decode(bytes);
	return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

function utf32(bytes: Uint8Array, littleEndian: boolean): string {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const parts: string[] = [];
	for (let at = 0; at + 4 <= bytes.length; at += 4) {
		const point = view.getUint32(at, littleEndian);
		parts.push(point <= 0x10ffff ? String.fromCodePoint(point) : "\ufffd");
	}
	return parts.join("");
}
