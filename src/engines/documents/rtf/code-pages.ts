/** `\fcharsetN` to the encodings of the WHATWG standard; 0 and 1 are the document's own. */
const CHARSETS: Readonly<Record<number, string>> = {
	77: "macintosh",
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
};
const PAGES: Readonly<Record<number, string>> = {
	866: "ibm866",
	874: "windows-874",
	932: "shift_jis",
	936: "gb18030",
	949: "euc-kr",
	950: "big5",
	10000: "macintosh",
	20866: "koi8-r",
	54936: "gb18030",
	65001: "utf-8",
};

/** The symbol fonts' own: its bytes are no letters. */
export const SYMBOLS = "symbols";

export function encodingOfCharset(charset: number): string | null {
	return charset === 2 ? SYMBOLS : (CHARSETS[charset] ?? null);
}

/** The encoding of a Windows code page; Western European for what is not known. */
export function encodingOfPage(page: number): string {
	return PAGES[page] ?? (page >= 1250 && page <= 1258 ? `windows-${page}` : "windows-1252");
}

const decoders = new Map<string, InstanceType<typeof TextDecoder>>();

export function decodeBytes(bytes: readonly number[], encoding: string): string {
	if (encoding === SYMBOLS) return "\u2022".repeat(bytes.length);
	let decoder = decoders.get(encoding);
	if (decoder === undefined) {
		decoder = new TextDecoder(encoding as ConstructorParameters<typeof TextDecoder>[0]);
		decoders.set(encoding, decoder);
	}
	return decoder.decode(Uint8Array.from(bytes));
}
