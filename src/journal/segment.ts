/**
 * Segment files: `journal/0000000007.seg`. Each begins with a 64 byte header. A file whose header lacks the number of
 * its own name has nothing to read: it is a spare, or was renamed for its next use.
 *
 *      0  magic "TPKSEG01"
 *      8  CRC32 of bytes 12 to 64
 *     12  epoch of the node's boot
 *     16  segment number, 64 bit
 *     24  sequence number of its first group, 64 bit
 *     32  node: first 16 bytes of the SHA-256 of its id
 *     48  machine boot: first 16 bytes of the SHA-256 of its boot id, zeros where the system reports none
 */
import { createHash } from "node:crypto";
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { readUint53, writeUint53 } from "./group.ts";

export const SEGMENT_HEADER_BYTES = 64;
const MAGIC = Buffer.from("TPKSEG01", "latin1");
const NAME = /^(\d{10})\.seg$/;

/** A position in the journal: the next group begins at `offset` of segment `segment`. */
export interface JournalPosition {
	readonly segment: number;
	readonly offset: number;
}

export interface SegmentHeader {
	readonly epoch: number;
	readonly number: number;
	readonly firstSeq: number;
	/** 16 bytes, hex. */
	readonly node: string;
	/** 16 bytes, hex; all zeros where unknown. */
	readonly boot: string;
}

export interface SegmentFile {
	readonly number: number;
	readonly path: string;
	readonly bytes: number;
	/** Time of its last write, in Unix milliseconds. */
	readonly writtenAtMs: number;
	/** null: the file has nothing to read. */
	readonly header: SegmentHeader | null;
	/** True for records of another node (a copied folder): the file is neither read nor used again. */
	readonly foreign: boolean;
}

export function segmentPath(dir: string, number: number): string {
	return join(dir, `${String(number).padStart(10, "0")}.seg`);
}

export function encodeSegmentHeader(header: SegmentHeader): Buffer {
	const buffer = Buffer.alloc(SEGMENT_HEADER_BYTES);
	MAGIC.copy(buffer, 0);
	buffer.writeUInt32LE(header.epoch, 12);
	writeUint53(buffer, header.number, 16);
	writeUint53(buffer, header.firstSeq, 24);
	Buffer.from(header.node, "hex").copy(buffer, 32, 0, 16);
	Buffer.from(header.boot, "hex").copy(buffer, 48, 0, 16);
	buffer.writeUInt32LE(crc32(buffer.subarray(12)), 8);
	return buffer;
}

function decodeSegmentHeader(buffer: Buffer): SegmentHeader | null {
	if (buffer.length < SEGMENT_HEADER_BYTES || !buffer.subarray(0, 8).equals(MAGIC)) return null;
	if (crc32(buffer.subarray(12, SEGMENT_HEADER_BYTES)) !== buffer.readUInt32LE(8)) return null;
	return {
		epoch: buffer.readUInt32LE(12),
		number: readUint53(buffer, 16),
		firstSeq: readUint53(buffer, 24),
		node: buffer.toString("hex", 32, 48),
		boot: buffer.toString("hex", 48, 64),
	};
}

/** Returns the segment files of a folder by number. */
export function listSegments(dir: string, nodeId: string): SegmentFile[] {
	const node = nodeDigest(nodeId);
	const files: SegmentFile[] = [];
	for (const name of readdirSync(dir)) {
		const match = NAME.exec(name);
		if (match) files.push(inspectSegment(join(dir, name), Number(match[1]), node));
	}
	return files.sort((a, b) => a.number - b.number);
}

function inspectSegment(path: string, number: number, node: string): SegmentFile {
	const buffer = Buffer.alloc(SEGMENT_HEADER_BYTES);
	const fd = openSync(path, "r");
	try {
		readSync(fd, buffer, 0, SEGMENT_HEADER_BYTES, 0);
	} finally {
		closeSync(fd);
	}
	const header = decodeSegmentHeader(buffer);
	const live = header !== null && header.number === number;
	const foreign = live && header.node !== node;
	const { size, mtimeMs } = statSync(path);
	return { number, path, bytes: size, writtenAtMs: mtimeMs, header: live && !foreign ? header : null, foreign };
}

/** Returns true if a folder holds records of a node other than these. */
export function holdsOtherNodes(dir: string, nodeIds: readonly string[]): boolean {
	const known = new Set(nodeIds.flatMap((id) => listSegments(dir, id).flatMap((file) => (file.header ? [file.number] : []))));
	return listSegments(dir, "").some((file) => file.foreign && !known.has(file.number));
}

export function nodeDigest(nodeId: string): string {
	return digest16(nodeId);
}

/**
 * Returns an id of this boot of the machine. It lets a start distinguish a killed process, whose writes the kernel
 * still holds, from a power cut, which may lose the last unsynced ones.
 */
export function machineBoot(): string {
	try {
		return digest16(readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
	} catch {
		return "0".repeat(32);
	}
}

function digest16(text: string): string {
	return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
