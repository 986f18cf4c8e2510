import { DocumentFault } from "../document-fault.ts";

/** Receives the tokens of an RTF file (RTF 1.9.1, Basic entities). */
export interface RtfVisitor {
	open(): void;
	close(): void;
	/** `number` is null if the word has none. */
	word(word: string, number: number | null): void;
	/** `\*`, `\~`, `\_`, ... */
	sign(sign: string): void;
	/** Receives a byte of text, plain or as `\'hh`. */
	byte(byte: number): void;
}

const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const APOSTROPHE = 0x27;
const MAX_DEPTH = 2_000;

const isLetter = (byte: number) => (byte >= 97 && byte <= 122) || (byte >= 65 && byte <= 90);
const isDigit = (byte: number) => byte >= 48 && byte <= 57;

/** Returns true for RTF: a version, or another control word, follows the first one. Texts about RTF have words there. */
export const isRtf = (head: string): boolean => /^\s*\{\\rtf(?:\d|\s*[\\{}])/.test(head);

/**
 * Reads a file from its first to its last brace.
 * @throws {DocumentFault} if it is truncated or nests too deep
 */
export function readRtf(source: Uint8Array, visitor: RtfVisitor): void {
	const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
	let depth = 0;
	let at = 0;
	while (at < bytes.length) {
		const byte = bytes[at] ?? 0;
		if (byte === OPEN) {
			if (++depth > MAX_DEPTH) throw new DocumentFault("too-large", `The file nests deeper than ${MAX_DEPTH} groups`);
			visitor.open();
			at += 1;
		} else if (byte === CLOSE) {
			visitor.close();
			at += 1;
			if (--depth === 0) return;
		} else if (byte === BACKSLASH) at = control(bytes, at + 1, visitor);
		else {
			if (byte !== 10 && byte !== 13 && byte !== 0) visitor.byte(byte);
			at += 1;
		}
	}
	throw new DocumentFault("corrupt", "The file is cut off: its last groups are not closed");
}

function control(bytes: Buffer, start: number, visitor: RtfVisitor): number {
	const first = bytes[start] ?? 0;
	if (first === APOSTROPHE) {
		const code = Number.parseInt(String.fromCharCode(bytes[start + 1] ?? 0, bytes[start + 2] ?? 0), 16);
		if (Number.isFinite(code)) visitor.byte(code);
		return start + 3;
	}
	if (!isLetter(first)) {
		if (first === 10 || first === 13) visitor.word("par", null);
		else visitor.sign(String.fromCharCode(first));
		return start + 1;
	}
	let at = start;
	// Words have at most 32 letters, numbers ten digits; longer ones are unknown, and not text either.
	while (isLetter(bytes[at] ?? 0)) at += 1;
	const word = bytes.toString("latin1", start, Math.min(at, start + 32));
	const isNegative = bytes[at] === 45;
	if (isNegative) at += 1;
	const digitsAt = at;
	let digits = 0;
	for (; isDigit(bytes[at] ?? 0); at += 1) digits = Math.min(digits * 10 + (bytes[at] ?? 0) - 48, 0x7fffffff);
	const number = at === digitsAt ? null : isNegative ? -digits : digits;
	if (bytes[at] === 32) at += 1;
	visitor.word(word, number);
	return word === "bin" && number !== null && number > 0 ? at + number : at;
}
