import { UPPER_HALVES } from "./single-byte-pages.ts";

/** Maps `\fcharsetN` to encodings of the WHATWG standard, or to numbers of other pages; 0 and 1 are the document's own. */
const CHARSETS: Readonly<Record<number, string>> = {
	77: "macintosh",
	78: "shift_jis",
	79: "euc-kr",
	80: "gb18030",
	81: "big5",
	85: "10006",
	86: "10081",
	88: "10029",
	89: "x-mac-cyrillic",
	128: "shift_jis",
	129: "euc-kr",
	134: "gb18030",
	136: "big5",
	161: "windows-1253",
	162: "windows-1254",
	163: "windows-1258",
	177: "windows-1255",
	178: "windows-1256",
	186: "windows-1257",
	204: "windows-1251",
	222: "windows-874",
	238: "windows-1250",
	254: "437",
	255: "850",
};
const PAGES: Readonly<Record<number, string>> = {
	866: "ibm866",
	874: "windows-874",
	932: "shift_jis",
	936: "gb18030",
	949: "euc-kr",
	950: "big5",
	10000: "macintosh",
	10001: "shift_jis",
	10002: "big5",
	10003: "euc-kr",
	10007: "x-mac-cyrillic",
	10008: "gb18030",
	20866: "koi8-r",
	20932: "euc-jp",
	21866: "koi8-u",
	51932: "euc-jp",
	51949: "euc-kr",
	54936: "gb18030",
	65001: "utf-8",
};

/** Symbol fonts, whose bytes are not letters. */
export const SYMBOLS = "symbols";

export function encodingOfCharset(charset: number): string | null {
	return charset === 2 ? SYMBOLS : (CHARSETS[charset] ?? null);
}

/** Returns the encoding of a code page of Windows, MS-DOS or the Macintosh; Western European if it is unknown. */
export const encodingOfPage = (page: number): string => knownPage(page) ?? "windows-1252";

/** Returns the encoding of a code page; null if it is unknown. */
export function knownPage(page: number): string | null {
	if (PAGES[page] !== undefined) return PAGES[page];
	if (UPPER_HALVES[page] !== undefined) return String(page);
	return page >= 1250 && page <= 1258 ? `windows-${page}` : null;
}

const decoders = new Map<string, InstanceType<typeof TextDecoder>>();

export function decodeBytes(bytes: readonly number[], encoding: string): string {
	if (encoding === SYMBOLS) return "\u2022".repeat(bytes.length);
	const upper = UPPER_HALVES[Number(encoding)];
	if (upper !== undefined)
		return bytes.map((byte) => (byte < 128 ? String.fromCharCode(byte) : (upper[byte - 128] ?? ""))).join("");
	let decoder = decoders.get(encoding);
	if (decoder === undefined) {
		decoder = new TextDecoder(encoding as ConstructorParameters<typeof TextDecoder>[0]);
		decoders.set(encoding, decoder);
	}
	return decoder.decode(Uint8Array.from(bytes));
}
