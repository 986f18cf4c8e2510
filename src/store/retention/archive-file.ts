/**
 * The file of one month's posts: `2026-08.ndjson.gz`, with `2026-08.ndjson.gz.sha256` beside it in the form that
 * `sha256sum -c` reads. A line is a post with its charges, as the rows of the store.
 *
 * The file is written part by part. Each part is a gzip member of its own (RFC 1952, 2.2: any number of them is one
 * file), with its length in an extra field, so that parts can be read one by one.
 */
import {
	closeSync,
	existsSync,
	fdatasyncSync,
	fsyncSync,
	ftruncateSync,
	openSync,
	readSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { crc32, deflateRawSync, gunzipSync } from "node:zlib";
import { syncFolderNow, writeAll } from "../../journal/durable-file.ts";

/** ID1, ID2, deflate, FEXTRA, no time, no flags, unknown system; 8 bytes of extra field: "TK", 4, the member's length. */
const HEAD = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 8, 0, 0x54, 0x4b, 4, 0]);
const HEAD_BYTES = HEAD.length + 4;
const TAIL_BYTES = 8;
/** A part has a few hundred posts; a larger length is invalid. */
const MAX_PART_BYTES = 64 << 20;
const MAX_PART_TEXT_BYTES = 256 << 20;

/** Thrown where an archive file is missing, was changed, or disagrees with the store. Nothing was removed. */
export class ArchiveFaultError extends Error {
	override readonly name = "ArchiveFaultError";
	readonly code = "ARCHIVE_FAULT";
}

export function archivePath(folder: string, month: string): string {
	return join(folder, `${month}.ndjson.gz`);
}

/** Returns the name under which a file is written until it is complete. */
export function unfinishedPath(folder: string, month: string): string {
	return `${archivePath(folder, month)}.part`;
}

/** Encodes one part from its lines. */
export function encodePart(lines: readonly string[]): Buffer {
	const text = Buffer.from(lines.map((line) => `${line}\n`).join(""));
	const packed = deflateRawSync(text);
	const length = Buffer.alloc(4);
	length.writeUInt32LE(HEAD_BYTES + packed.length + TAIL_BYTES);
	const tail = Buffer.alloc(TAIL_BYTES);
	tail.writeUInt32LE(crc32(text), 0);
	tail.writeUInt32LE(text.length, 4);
	return Buffer.concat([HEAD, length, packed, tail]);
}

/** Appends a part to a file, and syncs it to disk. */
export function writePart(path: string, part: Buffer, offset: number): void {
	const file = openSync(path, existsSync(path) ? "r+" : "w+", 0o600);
	try {
		writeAll(file, part, offset);
		fdatasyncSync(file);
	} finally {
		closeSync(file);
	}
}

/**
 * Returns the lines of the part at an offset, and the offset of the next one. Throws `ArchiveFaultError` where it is
 * incomplete.
 */
export function readPart(path: string, offset: number): { readonly lines: string[]; readonly end: number } {
	const broken = (why: string) => new ArchiveFaultError(`the archive ${path} is damaged at byte ${offset}: ${why}`);
	const file = openSync(path, "r");
	try {
		const head = Buffer.alloc(HEAD_BYTES);
		const bytesRead = readSync(file, head, 0, HEAD_BYTES, offset);
		if (bytesRead < HEAD_BYTES || !head.subarray(0, HEAD.length).equals(HEAD)) throw broken("no part begins here");
		const length = head.readUInt32LE(HEAD.length);
		if (length < HEAD_BYTES + TAIL_BYTES || length > MAX_PART_BYTES) throw broken("its length is wrong");
		const part = Buffer.alloc(length);
		if (readSync(file, part, 0, length, offset) < length) throw broken("it ends too early");
		return { lines: textOf(part, broken).split("\n").slice(0, -1), end: offset + length };
	} finally {
		closeSync(file);
	}
}

function textOf(part: Buffer, broken: (why: string) => Error): string {
	try {
		return gunzipSync(part, { maxOutputLength: MAX_PART_TEXT_BYTES }).toString();
	} catch (error) {
		throw broken((error as Error).message);
	}
}

/** Returns the size of a file in bytes; -1 where there is none. */
export function fileBytes(path: string): number {
	return statSync(path, { throwIfNoEntry: false })?.size ?? -1;
}

/** Truncates a file to its valid bytes, and makes it survive a power cut. */
export function settleFile(path: string, bytes: number): void {
	const file = openSync(path, "r+");
	try {
		ftruncateSync(file, bytes);
		fsyncSync(file);
	} finally {
		closeSync(file);
	}
}

/** Writes the checksum file, as `sha256sum` would. */
export function writeSum(folder: string, month: string, sha256: string): void {
	const path = archivePath(folder, month);
	writeFileSync(`${path}.sha256`, `${sha256}  ${month}.ndjson.gz\n`, { mode: 0o600, flush: true });
	syncFolderNow(folder);
}

const HASHED_AT_ONCE = 8 << 20;

/** Computes the sha256 of a file, a bounded piece per call, so that the caller can do other work in between. */
export class FileSum {
	readonly #path: string;
	readonly #bytes: number;
	readonly #hash = new Bun.CryptoHasher("sha256");
	#done = 0;

	constructor(path: string, bytes: number) {
		this.#path = path;
		this.#bytes = bytes;
	}

	/**
	 * Reads on; returns the sum in hex once the whole file is read. Throws `ArchiveFaultError` where the file is
	 * shorter.
	 */
	next(): string | null {
		const buffer = Buffer.alloc(Math.min(HASHED_AT_ONCE, this.#bytes - this.#done));
		const file = openSync(this.#path, "r");
		try {
			const read = readSync(file, buffer, 0, buffer.length, this.#done);
			if (read < buffer.length) throw new ArchiveFaultError(`the archive ${this.#path} is shorter than it was`);
			this.#hash.update(buffer);
			this.#done += read;
		} finally {
			closeSync(file);
		}
		return this.#done < this.#bytes ? null : this.#hash.digest("hex");
	}
}
