/**
 * Streams one file out of a zip (a wheel, a jar). All sizes come from the central directory; nothing is inflated past the size
 * that the caller expects. Source: PKWARE APPNOTE 4.3.
 */
import { createReadStream, createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createInflateRaw } from "node:zlib";
import { AssetError } from "./errors.ts";

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const LOCAL_SIGNATURE = 0x04034b50;
/** The end record: 22 bytes and a comment of at most 65,535. */
const END_SEARCH_BYTES = 22 + 65_535;
const MAX_DIRECTORY_BYTES = 64 << 20;
const STORED = 0;
const DEFLATED = 8;

interface ZipEntry {
	readonly method: number;
	readonly compressedBytes: number;
	readonly bytes: number;
	readonly localOffset: number;
}

/** Passes bytes through and fails at the first one over the limit. */
function byteLimit(maxBytes: number, what: string): Transform {
	let seen = 0;
	return new Transform({
		transform(chunk: Buffer, _encoding, done) {
			seen += chunk.length;
			if (seen > maxBytes) done(new AssetError("wrong-size", `${what} is larger than ${maxBytes} bytes`));
			else done(null, chunk);
		},
	});
}

function findEntry(directory: Buffer, member: string, zipPath: string): ZipEntry {
	let at = 0;
	while (at + 46 <= directory.length && directory.readUInt32LE(at) === ENTRY_SIGNATURE) {
		const nameLength = directory.readUInt16LE(at + 28);
		const next = at + 46 + nameLength + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
		if (directory.toString("utf8", at + 46, at + 46 + nameLength) === member)
			return {
				method: directory.readUInt16LE(at + 10),
				compressedBytes: directory.readUInt32LE(at + 20),
				bytes: directory.readUInt32LE(at + 24),
				localOffset: directory.readUInt32LE(at + 42),
			};
		at = next;
	}
	throw new AssetError("member-missing", `${zipPath} has no file ${member}`);
}

async function readEntry(zipPath: string, member: string): Promise<ZipEntry & { readonly dataOffset: number }> {
	const file = await open(zipPath, "r");
	try {
		const { size } = await file.stat();
		const tail = Buffer.alloc(Math.min(size, END_SEARCH_BYTES));
		await file.read(tail, 0, tail.length, size - tail.length);
		let end = tail.length - 22;
		while (end >= 0 && tail.readUInt32LE(end) !== END_SIGNATURE) end -= 1;
		if (end < 0) throw new AssetError("bad-archive", `${zipPath} is not a zip, or it is cut off`);
		const directoryBytes = tail.readUInt32LE(end + 12);
		const directoryOffset = tail.readUInt32LE(end + 16);
		if (directoryBytes > MAX_DIRECTORY_BYTES || directoryOffset + directoryBytes > size)
			throw new AssetError("bad-archive", `${zipPath} has a directory that does not fit the file`);
		const directory = Buffer.alloc(directoryBytes);
		await file.read(directory, 0, directoryBytes, directoryOffset);
		const entry = findEntry(directory, member, zipPath);
		const local = Buffer.alloc(30);
		await file.read(local, 0, 30, entry.localOffset);
		if (local.readUInt32LE(0) !== LOCAL_SIGNATURE)
			throw new AssetError("bad-archive", `${zipPath}: ${member} has no local header`);
		// The local header has lengths of its own for name and extra field.
		const dataOffset = entry.localOffset + 30 + local.readUInt16LE(26) + local.readUInt16LE(28);
		if (dataOffset + entry.compressedBytes > size) throw new AssetError("bad-archive", `${zipPath}: ${member} is cut off`);
		return { ...entry, dataOffset };
	} finally {
		await file.close();
	}
}

/**
 * Extracts one file.
 * @param expectedBytes the size that the member must have
 * @throws {AssetError} `bad-archive`, `member-missing`, `wrong-size`
 */
export async function extractZipMember(
	zipPath: string,
	member: string,
	to: string,
	expectedBytes: number,
	signal?: AbortSignal,
): Promise<void> {
	const entry = await readEntry(zipPath, member);
	if (entry.bytes !== expectedBytes)
		throw new AssetError("wrong-size", `${member} in ${zipPath} has ${entry.bytes} bytes, not ${expectedBytes}`);
	if (entry.method !== STORED && entry.method !== DEFLATED)
		throw new AssetError("bad-archive", `${member} in ${zipPath} is packed by method ${entry.method}`);
	const packed = createReadStream(zipPath, { start: entry.dataOffset, end: entry.dataOffset + entry.compressedBytes - 1 });
	const limited = byteLimit(expectedBytes, member);
	const out = createWriteStream(to);
	try {
		if (entry.method === STORED) await pipeline(packed, limited, out, { signal });
		else await pipeline(packed, createInflateRaw(), limited, out, { signal });
	} catch (fault) {
		const code = fault instanceof Error && "code" in fault ? String(fault.code) : "";
		if (code.startsWith("Z_")) throw new AssetError("bad-archive", `${member} in ${zipPath} cannot be inflated`, fault);
		throw fault;
	}
}
