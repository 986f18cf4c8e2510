import { latin1Text } from "./byte-text.ts";
import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "./json-bytes.ts";
import { documentStart } from "./json-members.ts";
import { decodeString, endOfValue, skipWhitespace } from "./json-scan.ts";
import { Splice } from "./splice.ts";

const SHORT_STRING = 128;

/**
 * Returns JSON in one spelling for each value: without white space, members sorted by key (twins stay, in order),
 * strings as JSON.stringify spells them, numbers by their exact value at any size. The JSON must have been checked.
 */
export function canonicalJson(bytes: Uint8Array): Uint8Array {
	const text = new Splice(bytes);
	keepCanonical(bytes, documentStart(bytes), text);
	return text.bytes();
}

/** Adds the value that begins at `start`, and returns where it ends. Goes as deep as the body, whose depth was checked. */
function keepCanonical(bytes: Uint8Array, start: number, into: Splice): number {
	const first = bytes[start];
	if (first === OPEN_BRACE) return keepObject(bytes, start, into);
	if (first === OPEN_BRACKET) return keepArray(bytes, start, into);
	const end = endOfValue(bytes, start);
	if (first === QUOTE) keepString(bytes, start, end, into);
	else {
		const text = latin1Text(bytes, start, end);
		const canonical = canonicalScalar(text);
		if (canonical === text) into.keep(start, end);
		else into.insert(canonical);
	}
	return end;
}

function keepArray(bytes: Uint8Array, open: number, into: Splice): number {
	into.keep(open, open + 1);
	let at = skipWhitespace(bytes, open + 1);
	while (bytes[at] !== CLOSE_BRACKET) {
		at = skipWhitespace(bytes, keepCanonical(bytes, at, into));
		if (bytes[at] === CLOSE_BRACKET) break;
		into.keep(at, at + 1);
		at = skipWhitespace(bytes, at + 1);
	}
	into.keep(at, at + 1);
	return at + 1;
}

function keepObject(bytes: Uint8Array, open: number, into: Splice): number {
	const members: { readonly key: string; readonly text: Splice }[] = [];
	let at = skipWhitespace(bytes, open + 1);
	while (bytes[at] !== CLOSE_BRACE) {
		const keyEnd = endOfValue(bytes, at);
		const key = latin1Text(bytes, at, keyEnd);
		const text = new Splice(bytes);
		keepString(bytes, at, keyEnd, text);
		const colon = skipWhitespace(bytes, keyEnd);
		text.keep(colon, colon + 1);
		const end = keepCanonical(bytes, skipWhitespace(bytes, colon + 1), text);
		members.push({ key: key.includes("\\") ? canonicalString(bytes, at, keyEnd) : key, text });
		at = skipWhitespace(bytes, end);
		if (bytes[at] !== CLOSE_BRACE) at = skipWhitespace(bytes, at + 1);
	}
	members.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
	into.keep(open, open + 1);
	for (const [index, { text }] of members.entries()) {
		if (index > 0) into.insert(",");
		into.insert(text);
	}
	into.keep(at, at + 1);
	return at + 1;
}

/** Adds a string; one without escapes is spelled right already. */
function keepString(bytes: Uint8Array, open: number, end: number, into: Splice): void {
	if (hasEscape(bytes, open, end)) into.insert(JSON.stringify(decodeString(bytes, open, end)));
	else into.keep(open, end);
}

/**
 * Returns true for a string with an escape. Short strings are searched byte by byte, which is faster than making a
 * text.
 */
function hasEscape(bytes: Uint8Array, open: number, end: number): boolean {
	if (end - open > SHORT_STRING) return latin1Text(bytes, open, end).includes("\\");
	for (let at = open; at < end; at++) if (bytes[at] === BACKSLASH) return true;
	return false;
}

/** Returns the bytes that `keepString` adds, in Latin-1: keys are sorted by it. */
function canonicalString(bytes: Uint8Array, open: number, end: number): string {
	return Buffer.from(JSON.stringify(decodeString(bytes, open, end))).toString("latin1");
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
const PLAIN_INTEGER = /^(?:0|-?[1-9]\d{0,20})$/;
/** Integers with more digits are spelled with a power of ten. */
const MAX_PLAIN_DIGITS = 21;
/** A longer exponent is left unchanged. */
const MAX_EXPONENT_CHARACTERS = 15;

/**
 * Returns words unchanged and numbers by their value: integers plain, all others as an integer that does not end in 0
 * and a power of ten.
 */
function canonicalScalar(text: string): string {
	if (PLAIN_INTEGER.test(text)) return text;
	const match = NUMBER.exec(text);
	if (match === null) return text;
	const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
	if (exponent.length > MAX_EXPONENT_CHARACTERS) return text;
	const digits = whole + fraction;
	let first = 0;
	while (digits[first] === "0") first++;
	if (first === digits.length) return "0";
	let last = digits.length;
	while (digits[last - 1] === "0") last--;
	const power = Number(exponent) - fraction.length + digits.length - last;
	const significant = digits.slice(first, last);
	if (power >= 0 && significant.length + power <= MAX_PLAIN_DIGITS) return `${sign}${significant}${"0".repeat(power)}`;
	return `${sign}${significant}e${power}`;
}
