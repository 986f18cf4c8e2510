import { analyse } from "chardet";
import { DocumentFault } from "../document-fault.ts";
import { eastAsianEncoding, isDoubtful } from "./east-asian.ts";
import { encodingByWords } from "./east-asian-words.ts";
import { hzText } from "./hz.ts";

/** Bytes that the detection looks at; the rest is read as it says. */
const SAMPLE_BYTES = 256 * 1_024;
/** What chardet calls an encoding, where the WHATWG standard has another name or another set that holds it. */
const NAMES: Readonly<Record<string, string>> = {
	"ISO-8859-1": "windows-1252",
	"ISO-8859-9": "windows-1254",
	"ISO-8859-8": "windows-1255",
	GB18030: "gb18030",
	ASCII: "utf-8",
};
/** A letter of East Asia: a page of Western text read as one of these has few. */
const MANY_BYTES = /^(shift_jis|gb18030|euc-|big5|iso-2022)/i;

/** What one text is written in, beside Latin letters. */
const SCRIPTS = [
	/^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}]+$/u,
	/^[\p{Script=Hangul}\p{Script=Han}]+$/u,
	...["Cyrillic", "Greek", "Arabic", "Hebrew", "Thai", "Devanagari", "Armenian", "Georgian", "Bengali", "Tamil"].map(
		(script) => new RegExp(`^\\p{Script=${script}}+$`, "u"),
	),
];
/** Pages of one script beside ASCII: in a text that is of another one some letters come out as those of a third. */
const PAGE_SCRIPTS: readonly (readonly [page: RegExp, letters: RegExp])[] = [
	[/^(windows-1251|koi8-|iso-8859-5|ibm866|x-mac-cyrillic)/, /\p{Script=Cyrillic}/gu],
	[/^(windows-1253|iso-8859-7)/, /\p{Script=Greek}/gu],
	[/^(windows-1255|iso-8859-8)/, /\p{Script=Hebrew}/gu],
	[/^(windows-1256|iso-8859-6)/, /\p{Script=Arabic}/gu],
	[/^windows-874/, /\p{Script=Thai}/gu],
];
const NEARLY_ALL = 0.9;
/** C1 controls (ISO 6429) stand in no text; a sign within a word, twice, is a letter of another page. */
const CONTROLS = /[\u0080-\u009f]/;
const SIGN_IN_WORD = /\p{L}[\u00a1-\u00a9\u00ac-\u00b3\u00b6\u00b8\u00b9\u00bc-\u00bf](?=\p{Ll})/gu;

/** One broken character in so many is let pass. */
const FAULTLESS_CHARS = 1_000;

const LATIN = /^(windows-125[047]|iso-8859-[1249]|iso-8859-1[0-6])$/i;
const CLEARLY_BETTER = 20;

type Encoding = ConstructorParameters<typeof TextDecoder>[0];

/**
 * Text of any encoding: by its byte order mark, as UTF-8 where it is valid, as UTF-16 by its zero bytes, else as its
 * bytes look. Throws DocumentFault where it is no text.
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
		// Japanese mail: all its bytes are ASCII, and its letters stand between escapes.
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

/** Text of 32 bits without a mark: each unit is a character, of which none is above 0x10FFFF. */
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

/** Text of 16 bits without a mark: Latin letters have a zero at each second byte, and on one side only. */
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

/** Of what is no text at all some unit is a control, half of a pair, of nobody, or of one more script. */
function isOneScript(bytes: Uint8Array, encoding: "utf-16le" | "utf-16be"): boolean {
	const text = new TextDecoder(encoding).decode(bytes);
	if (/[^\P{C}\t\n\f\r\p{Cf}]|\ufffd/u.test(text)) return false;
	const foreign = text.replace(/[\p{Script=Common}\p{Script=Inherited}\p{Script=Latin}]/gu, "");
	return foreign.length * 2 >= text.length && SCRIPTS.some((script) => script.test(foreign));
}

/** A zero byte, or many control characters: no text has them. */
function refuseBinary(bytes: Uint8Array): void {
	const sample = bytes.subarray(0, SAMPLE_BYTES);
	let controls = 0;
	for (const byte of sample) {
		if (byte === 0) throw unsupported();
		if (byte < 32 && !(byte >= 7 && byte <= 13) && byte !== 27) controls += 1;
	}
	if (controls > sample.length / 100) throw unsupported();
}

const unsupported = () => new DocumentFault("unsupported", "The file is of no type that is read, and it is no text");

function guess(bytes: Uint8Array): string {
	const sample = bytes.subarray(0, SAMPLE_BYTES);
	const byWords = encodingByWords(sample);
	if (byWords !== null) return byWords;
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
		if (encoding === "utf-8" || encoding.startsWith("utf-") || !known(encoding) || !fits(sample, encoding)) continue;
		if (MANY_BYTES.test(encoding) && confidence < 20) continue;
		// Languages of Latin letters look alike in short texts: the most common page goes first.
		if (LATIN.test(encoding) && confidence < western + CLEARLY_BETTER) return "windows-1252";
		return encoding;
	}
	return CONTROLS.test(read) && fits(sample, "ibm866") ? "ibm866" : "windows-1252";
}

const hasSignsInWords = (text: string): boolean => (text.match(SIGN_IN_WORD)?.length ?? 0) > 1;

/** Whether what comes of the encoding can be a text of it. */
function fits(sample: Uint8Array, encoding: string): boolean {
	if (MANY_BYTES.test(encoding)) return decodesCleanly(sample, encoding);
	const text = new TextDecoder(encoding as Encoding).decode(sample);
	if (CONTROLS.test(text)) return false;
	const letters = PAGE_SCRIPTS.find(([page]) => page.test(encoding))?.[1];
	if (letters === undefined) return !hasSignsInWords(text);
	const foreign = text.match(/[^\0-\u007f]/gu)?.filter((sign) => /\p{L}|\p{M}/u.test(sign)).length ?? 0;
	return (text.match(letters)?.length ?? 0) >= foreign * NEARLY_ALL;
}

function known(encoding: string): boolean {
	try {
		new TextDecoder(encoding as Encoding);
		return true;
	} catch {
		return false;
	}
}

/** The end of a sample may part a character, and a long text may have a broken one. */
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
