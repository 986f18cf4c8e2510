/** Streams one file out of a gzipped tar (as `npm pack` writes). Source: POSIX ustar, pax 4.21. */
import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { createGunzip } from "node:zlib";
import { AssetError } from "./errors.ts";

const BLOCK = 512;
/** A package file that unpacks to more than this is refused. */
const MAX_UNPACKED_BYTES = 8 * 2 ** 30;

const field = (header: Buffer, start: number, length: number): string =>
	header.toString("utf8", start, start + length).split("\0", 1)[0] ?? "";

/**
 * Reads the name and size of an entry. Packages name their files in the ustar fields; entries of other types (pax headers,
 * folders) are skipped by their size.
 */
function readHeader(header: Buffer): { name: string; bytes: number; regular: boolean } {
	const prefix = field(header, 345, 155);
	const name = field(header, 0, 100);
	const type = header[156];
	return {
		name: prefix === "" ? name : `${prefix}/${name}`,
		bytes: Number.parseInt(field(header, 124, 12).trim() || "0", 8),
		regular: type === 0 || type === 0x30,
	};
}

/** Reads a stream in exact amounts. */
class ByteReader {
	readonly #chunks: AsyncIterator<Buffer>;
	#rest: Buffer = Buffer.alloc(0);
	#readBytes = 0;

	constructor(stream: AsyncIterable<Buffer>) {
		this.#chunks = stream[Symbol.asyncIterator]();
	}

	/** Returns the next piece, at most `max` bytes; null at the end. */
	async piece(max: number): Promise<Buffer | null> {
		while (this.#rest.length === 0) {
			const { value, done } = await this.#chunks.next();
			if (done) return null;
			this.#readBytes += value.length;
			if (this.#readBytes > MAX_UNPACKED_BYTES) throw new AssetError("bad-archive", "The package unpacks to more than 8 GiB");
			this.#rest = value;
		}
		const piece = this.#rest.subarray(0, max);
		this.#rest = this.#rest.subarray(piece.length);
		return piece;
	}

	async block(): Promise<Buffer | null> {
		const parts: Buffer[] = [];
		let missing = BLOCK;
		while (missing > 0) {
			const piece = await this.piece(missing);
			if (piece === null) return null;
			parts.push(piece);
			missing -= piece.length;
		}
		return Buffer.concat(parts);
	}

	async take(bytes: number, sink: ((piece: Buffer) => Promise<unknown>) | null): Promise<boolean> {
		let missing = bytes;
		while (missing > 0) {
			const piece = await this.piece(missing);
			if (piece === null) return false;
			missing -= piece.length;
			if (sink) await sink(piece);
		}
		return true;
	}
}

async function copyMember(reader: ByteReader, tarPath: string, member: string, expectedBytes: number, out: FileHandle) {
	for (;;) {
		const header = await reader.block();
		if (header === null || header.every((byte) => byte === 0))
			throw new AssetError("member-missing", `${tarPath} has no file ${member}`);
		const { name, bytes, regular } = readHeader(header);
		if (!Number.isSafeInteger(bytes) || bytes < 0) throw new AssetError("bad-archive", `${tarPath} is not a tar archive`);
		const isMember = regular && name === member;
		if (isMember && bytes !== expectedBytes)
			throw new AssetError("wrong-size", `${member} in ${tarPath} has ${bytes} bytes, not ${expectedBytes}`);
		const whole = await reader.take(bytes, isMember ? (piece) => out.writeFile(piece) : null);
		if (!whole) throw new AssetError("bad-archive", `${tarPath} is cut off`);
		if (isMember) return;
		await reader.take((BLOCK - (bytes % BLOCK)) % BLOCK, null);
	}
}

/**
 * Extracts one file.
 * @param member with the leading `package/` that npm gives each path
 * @throws {AssetError} `bad-archive`, `member-missing`, `wrong-size`
 */
export async function extractTarMember(
	tarPath: string,
	member: string,
	to: string,
	expectedBytes: number,
	signal?: AbortSignal,
): Promise<void> {
	const source = createReadStream(tarPath, signal ? { signal } : {});
	const unpacked = source.pipe(createGunzip());
	source.on("error", (fault) => unpacked.destroy(fault));
	const out = await open(to, "w");
	try {
		await copyMember(new ByteReader(unpacked), tarPath, member, expectedBytes, out);
	} catch (fault) {
		const code = fault instanceof Error && "code" in fault ? String(fault.code) : "";
		if (code.startsWith("Z_")) throw new AssetError("bad-archive", `${tarPath} cannot be unpacked`, fault);
		throw fault;
	} finally {
		unpacked.destroy();
		source.destroy();
		await out.close();
	}
}
