/**
 * One group on disk: the records of one turn of the event loop behind one checksum.
 *
 *      0  magic "TPKG"
 *      4  payload bytes
 *      8  CRC32 of bytes 12 to the end of the payload
 *     12  epoch of the node's boot
 *     16  sequence number, 64 bit
 *     24  highest sequence known to be on the disk when this group was written, 64 bit
 *     32  payload: JSON records, one per line
 *
 * Groups start at multiples of 8 bytes. Little-endian.
 */
import { crc32 } from "node:zlib";

export const GROUP_HEADER_BYTES = 32;
export const GROUP_ALIGN_BYTES = 8;
const MAGIC = 0x474b5054;
const CRC_FROM = 12;

export interface GroupHeader {
	readonly payloadBytes: number;
	readonly epoch: number;
	readonly seq: number;
	readonly syncedSeq: number;
}

/** Bytes that a group with this payload takes in its segment. */
export function groupBytes(payloadBytes: number): number {
	return Math.ceil((GROUP_HEADER_BYTES + payloadBytes) / GROUP_ALIGN_BYTES) * GROUP_ALIGN_BYTES;
}

/** Writes the header, and the zeros behind the payload, around a payload that is already at byte 32 of `buffer`. */
export function sealGroup(buffer: Buffer, header: GroupHeader): number {
	const end = GROUP_HEADER_BYTES + header.payloadBytes;
	const total = groupBytes(header.payloadBytes);
	buffer.writeUInt32LE(MAGIC, 0);
	buffer.writeUInt32LE(header.payloadBytes, 4);
	buffer.writeUInt32LE(header.epoch, 12);
	writeUint53(buffer, header.seq, 16);
	writeUint53(buffer, header.syncedSeq, 24);
	buffer.writeUInt32LE(crc32(buffer.subarray(CRC_FROM, end)), 8);
	buffer.fill(0, end, total);
	return total;
}

/** Returns the header of a complete, undamaged group at `offset`, or null. Never reads past `buffer`. */
export function readGroupHeader(buffer: Buffer, offset: number): GroupHeader | null {
	const partial = peekGroup(buffer, offset);
	if (partial === null) return null;
	const end = offset + GROUP_HEADER_BYTES + partial.payloadBytes;
	if (end > buffer.length) return null;
	return crc32(buffer.subarray(offset + CRC_FROM, end)) === buffer.readUInt32LE(offset + 8) ? partial : null;
}

/** Returns the header at `offset`, with only its magic checked: it says how many bytes a full check needs. */
export function peekGroup(buffer: Buffer, offset: number): GroupHeader | null {
	if (offset + GROUP_HEADER_BYTES > buffer.length) return null;
	if (buffer.readUInt32LE(offset) !== MAGIC) return null;
	return {
		payloadBytes: buffer.readUInt32LE(offset + 4),
		epoch: buffer.readUInt32LE(offset + 12),
		seq: readUint53(buffer, offset + 16),
		syncedSeq: readUint53(buffer, offset + 24),
	};
}

/** Writes 53 bits of a 64 bit field: plain numbers are enough for sequence numbers, and cheaper than BigInt. */
export function writeUint53(buffer: Buffer, value: number, offset: number): void {
	buffer.writeUInt32LE(value % 0x1_0000_0000, offset);
	buffer.writeUInt32LE(Math.floor(value / 0x1_0000_0000), offset + 4);
}

export function readUint53(buffer: Buffer, offset: number): number {
	return buffer.readUInt32LE(offset) + buffer.readUInt32LE(offset + 4) * 0x1_0000_0000;
}
