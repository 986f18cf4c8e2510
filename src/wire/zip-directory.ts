/** Reads the directory of a zip, by which its members are found (PKWARE APPNOTE 6.3.10). */

/** A member of a zip. */
export interface ZipEntry {
	readonly name: string;
	/** `ZIP_STORED`, `ZIP_DEFLATED` or another of APPNOTE 4.4.5. */
	readonly method: number;
	readonly encrypted: boolean;
	readonly packedBytes: number;
	readonly bytes: number;
	/** CRC-32 of the unpacked bytes. */
	readonly checksum: number;
	/** Offset of the local header. */
	readonly headerAt: number;
}

/** Where the directory is, from the record at the end of the file. */
export interface ZipDirectoryPlace {
	readonly entries: number;
	readonly bytes: number;
	readonly offset: number;
}

export const ZIP_STORED = 0;
export const ZIP_DEFLATED = 8;
export const ZIP_LOCAL_HEADER_BYTES = 30;
const END_BYTES = 22;
/** The end record and the longest comment behind it: no zip needs more of its end to find the directory. */
export const ZIP_END_BYTES = END_BYTES + 65_535;

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_HEADER = 0x04034b50;
const IN_ZIP64 = 0xffff_ffff;

/** Returns the place of the directory, from at least the last `ZIP_END_BYTES` of the file; null without an end record. */
export function zipDirectoryPlace(tail: Buffer): ZipDirectoryPlace | null {
	const stopAt = Math.max(0, tail.length - ZIP_END_BYTES);
	for (let at = tail.length - END_BYTES; at >= stopAt; at -= 1) {
		if (tail.readUInt32LE(at) !== END_OF_DIRECTORY) continue;
		return { entries: tail.readUInt16LE(at + 10), bytes: tail.readUInt32LE(at + 12), offset: tail.readUInt32LE(at + 16) };
	}
	return null;
}

/**
 * Yields the entries of a directory, with their names as written.
 * @param directory the bytes from the directory's offset on
 * @throws RangeError for a directory that is cut off or damaged
 */
export function* zipEntries(directory: Buffer, count: number): Generator<ZipEntry> {
	let at = 0;
	for (let index = 0; index < count; index += 1) {
		if (directory.readUInt32LE(at) !== DIRECTORY_ENTRY) throw new RangeError("no directory entry");
		const nameAt = at + 46;
		const extraAt = nameAt + directory.readUInt16LE(at + 28);
		const commentAt = extraAt + directory.readUInt16LE(at + 30);
		const [bytes = 0, packedBytes = 0, headerAt = 0] = fullSizes(directory.subarray(extraAt, commentAt), [
			directory.readUInt32LE(at + 24),
			directory.readUInt32LE(at + 20),
			directory.readUInt32LE(at + 42),
		]);
		yield {
			name: directory.toString("utf8", nameAt, extraAt),
			method: directory.readUInt16LE(at + 10),
			encrypted: (directory.readUInt16LE(at + 8) & 1) === 1,
			packedBytes,
			bytes,
			checksum: directory.readUInt32LE(at + 16),
			headerAt,
		};
		at = commentAt + directory.readUInt16LE(at + 32);
	}
}

/** Returns the offset of a member's data from the beginning of its local header; null if the bytes are no such header. */
export function zipDataOffset(header: Buffer): number | null {
	if (header.length < ZIP_LOCAL_HEADER_BYTES || header.readUInt32LE(0) !== LOCAL_HEADER) return null;
	// The local header has lengths of its own for name and extra field.
	return ZIP_LOCAL_HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
}

/** Returns the sizes; those too large for the directory are in extra field 1, in their order. */
function fullSizes(extra: Buffer, short: readonly number[]): number[] {
	let full: Buffer | null = null;
	for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2))
		if (extra.readUInt16LE(at) === 1) full = extra.subarray(at + 4, at + 4 + extra.readUInt16LE(at + 2));
	let at = 0;
	return short.map((value) => {
		if (value !== IN_ZIP64) return value;
		if (full === null) throw new RangeError("no ZIP64 field");
		const size = Number(full.readBigUInt64LE(at));
		at += 8;
		return size;
	});
}
