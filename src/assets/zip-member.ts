/**
 * Streams one file out of a zip (a wheel, a jar). All sizes come from the central directory; nothing is inflated past the size
 * that the caller expects.
 */
import { createReadStream, createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createInflateRaw } from "node:zlib";
import {
	ZIP_DEFLATED,
	ZIP_END_BYTES,
	ZIP_LOCAL_HEADER_BYTES,
	ZIP_STORED,
	type ZipEntry,
	zipDataOffset,
	zipDirectoryPlace,
	zipEntries,
} from "../wire/zip-directory.ts";
import { AssetError } from "./errors.ts";

const MAX_DIRECTORY_BYTES = 64 << 20;

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

function findEntry(directory: Buffer, count: number, member: string, zipPath: string): ZipEntry {
	try {
		for (const entry of zipEntries(directory, count)) if (entry.name === member) return entry;
	} catch (fault) {
		throw new AssetError("bad-archive", `${zipPath} has a damaged directory`, fault);
	}
	throw new AssetError("member-missing", `${zipPath} has no file ${member}`);
}

async function readEntry(zipPath: string, member: string): Promise<ZipEntry & { readonly dataOffset: number }> {
	const file = await open(zipPath, "r");
	try {
		const { size } = await file.stat();
		const tail = Buffer.alloc(Math.min(size, ZIP_END_BYTES));
		await file.read(tail, 0, tail.length, size - tail.length);
		const place = zipDirectoryPlace(tail);
		if (place === null) throw new AssetError("bad-archive", `${zipPath} is not a zip, or it is cut off`);
		if (place.bytes > MAX_DIRECTORY_BYTES || place.offset + place.bytes > size)
			throw new AssetError("bad-archive", `${zipPath} has a directory that does not fit the file`);
		const directory = Buffer.alloc(place.bytes);
		await file.read(directory, 0, place.bytes, place.offset);
		const entry = findEntry(directory, place.entries, member, zipPath);
		const header = Buffer.alloc(ZIP_LOCAL_HEADER_BYTES);
		await file.read(header, 0, header.length, entry.headerAt);
		const offset = zipDataOffset(header);
		if (offset === null) throw new AssetError("bad-archive", `${zipPath}: ${member} has no local header`);
		const dataOffset = entry.headerAt + offset;
		if (dataOffset + entry.packedBytes > size) throw new AssetError("bad-archive", `${zipPath}: ${member} is cut off`);
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
	if (entry.method !== ZIP_STORED && entry.method !== ZIP_DEFLATED)
		throw new AssetError("bad-archive", `${member} in ${zipPath} is packed by method ${entry.method}`);
	const packed = createReadStream(zipPath, { start: entry.dataOffset, end: entry.dataOffset + entry.packedBytes - 1 });
	const limited = byteLimit(expectedBytes, member);
	const out = createWriteStream(to);
	try {
		if (entry.method === ZIP_STORED) await pipeline(packed, limited, out, { signal });
		else await pipeline(packed, createInflateRaw(), limited, out, { signal });
	} catch (fault) {
		const code = fault instanceof Error && "code" in fault ? String(fault.code) : "";
		if (code.startsWith("Z_")) throw new AssetError("bad-archive", `${member} in ${zipPath} cannot be inflated`, fault);
		throw fault;
	}
}
