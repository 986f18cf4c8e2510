import { crc32, inflateRawSync } from "node:zlib";
import { DocumentFault } from "../document-fault.ts";
import { MAX_INFLATED_BYTES, MAX_RATIO, MAX_ZIP_ENTRIES, RATIO_FREE_BYTES } from "../limits.ts";
import type { PackageParts } from "../office/package-parts.ts";

interface Entry {
	readonly method: number;
	readonly encrypted: boolean;
	readonly packedBytes: number;
	readonly bytes: number;
	readonly checksum: number;
	readonly headerAt: number;
}

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_HEADER = 0x04034b50;
const END_BYTES = 22;
const MAX_COMMENT_BYTES = 65_535;
const IN_ZIP64 = 0xffff_ffff;
const STORED = 0;
const DEFLATED = 8;
/** Some writers start names like absolute paths, but names are relative (APPNOTE 4.4.17.1). */
const LEADING = /^(?:\.?\/)+/;
const TEXT_PART = /\.(xml|rels|x?html?|opf|ncx|txt|vml)$/i;

const corrupt = () => new DocumentFault("corrupt", "The file is cut off or damaged: its zip directory cannot be read");
const megabytes = (bytes: number) => Math.ceil(bytes / 2 ** 20);

/**
 * A zip file in memory (APPNOTE 6.3.10), opened by its central directory. Sizes are checked as declared at opening and as
 * inflated at reading, so a file cannot use more memory than the limits, whatever it declares.
 */
export class ZipArchive implements PackageParts {
	readonly #bytes: Buffer;
	readonly #entries: ReadonlyMap<string, Entry>;
	/** Part names are case-insensitive (ECMA-376 part 2, 6.2.2.3); null until the first look-up that finds no exact name. */
	#folded: Map<string, Entry> | null = null;
	#inflated = 0;

	/** @throws DocumentFault */
	constructor(bytes: Uint8Array) {
		this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
		try {
			this.#entries = directory(this.#bytes);
		} catch (fault) {
			throw fault instanceof DocumentFault ? fault : corrupt();
		}
		refuseBomb(this.#entries);
	}

	names(): string[] {
		return [...this.#entries.keys()];
	}

	has(name: string): boolean {
		return this.#entry(name) !== undefined;
	}

	/**
	 * Returns a part's bytes; null if there is none of that name.
	 * @throws {DocumentFault}
	 */
	read(name: string): Buffer | null {
		const entry = this.#entry(name);
		if (entry === undefined) return null;
		if (entry.encrypted) throw new DocumentFault("encrypted", "The file is protected by a password");
		const packed = this.#packed(entry);
		this.#inflated += entry.bytes;
		if (this.#inflated > MAX_INFLATED_BYTES) throw tooLarge(this.#inflated);
		const bytes = entry.method === STORED ? packed : inflateEntry(packed, entry, name);
		if (crc32(bytes) !== entry.checksum) throw damaged(name);
		return bytes;
	}

	/** Returns a part as text, in UTF-8 or UTF-16 with a mark. */
	text(name: string): string | null {
		const bytes = this.read(name);
		if (bytes === null) return null;
		const encoding =
			bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-8";
		return new TextDecoder(encoding).decode(bytes);
	}

	#entry(name: string): Entry | undefined {
		const exact = this.#entries.get(name);
		if (exact !== undefined) return exact;
		this.#folded ??= new Map([...this.#entries].map(([other, entry]) => [other.toLowerCase(), entry]));
		return this.#folded.get(name.toLowerCase());
	}

	#packed({ headerAt, packedBytes }: Entry): Buffer {
		const bytes = this.#bytes;
		if (headerAt + 30 > bytes.length || bytes.readUInt32LE(headerAt) !== LOCAL_HEADER) throw corrupt();
		const start = headerAt + 30 + bytes.readUInt16LE(headerAt + 26) + bytes.readUInt16LE(headerAt + 28);
		if (start + packedBytes > bytes.length) throw corrupt();
		return bytes.subarray(start, start + packedBytes);
	}
}

const damaged = (name: string) =>
	new DocumentFault("corrupt", `The file is cut off or damaged: its part ${name} cannot be unpacked`);

function inflateEntry(packed: Buffer, { method, bytes }: Entry, name: string): Buffer {
	if (method !== DEFLATED) throw new DocumentFault("unsupported", "The file is packed by a method that is not read");
	try {
		return inflateRawSync(packed, { maxOutputLength: Math.max(1, bytes) });
	} catch (fault) {
		if ((fault as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE")
			throw new DocumentFault("too-large", `The part ${name} inflates to more than it declares`);
		throw damaged(name);
	}
}

function tooLarge(bytes: number): DocumentFault {
	return new DocumentFault(
		"too-large",
		`The file inflates to ${megabytes(bytes)} MB; ${megabytes(MAX_INFLATED_BYTES)} MB are the limit`,
	);
}

function refuseBomb(entries: ReadonlyMap<string, Entry>): void {
	let declared = 0;
	for (const [name, { bytes, packedBytes }] of entries) {
		if (!TEXT_PART.test(name)) continue;
		declared += bytes;
		if (bytes > RATIO_FREE_BYTES && bytes > packedBytes * MAX_RATIO)
			throw new DocumentFault("too-large", `The part ${name} inflates ${Math.round(bytes / Math.max(1, packedBytes))} times`);
	}
	if (declared > MAX_INFLATED_BYTES) throw tooLarge(declared);
}

function directory(bytes: Buffer): Map<string, Entry> {
	const end = endOfDirectory(bytes);
	const count = bytes.readUInt16LE(end + 10);
	if (count > MAX_ZIP_ENTRIES) throw new DocumentFault("too-large", `The file has more than ${MAX_ZIP_ENTRIES} parts`);
	const entries = new Map<string, Entry>();
	let at = bytes.readUInt32LE(end + 16);
	for (let index = 0; index < count; index += 1) {
		if (bytes.readUInt32LE(at) !== DIRECTORY_ENTRY) throw corrupt();
		const nameBytes = bytes.readUInt16LE(at + 28);
		const extraBytes = bytes.readUInt16LE(at + 30);
		const name = bytes
			.toString("utf8", at + 46, at + 46 + nameBytes)
			.replaceAll("\\", "/")
			.replace(LEADING, "");
		const extra = bytes.subarray(at + 46 + nameBytes, at + 46 + nameBytes + extraBytes);
		const sizes = fullSizes(extra, [bytes.readUInt32LE(at + 24), bytes.readUInt32LE(at + 20), bytes.readUInt32LE(at + 42)]);
		const [unpacked = 0, packedBytes = 0, headerAt = 0] = sizes;
		entries.set(name, {
			method: bytes.readUInt16LE(at + 10),
			encrypted: (bytes.readUInt16LE(at + 8) & 1) === 1,
			packedBytes,
			bytes: unpacked,
			checksum: bytes.readUInt32LE(at + 16),
			headerAt,
		});
		at += 46 + nameBytes + extraBytes + bytes.readUInt16LE(at + 32);
	}
	return entries;
}

function endOfDirectory(bytes: Buffer): number {
	const stopAt = Math.max(0, bytes.length - END_BYTES - MAX_COMMENT_BYTES);
	for (let at = bytes.length - END_BYTES; at >= stopAt; at -= 1) if (bytes.readUInt32LE(at) === END_OF_DIRECTORY) return at;
	throw corrupt();
}

/** Values too large for the directory are in extra field 1, in their order. */
function fullSizes(extra: Buffer, short: readonly number[]): number[] {
	let from: Buffer | null = null;
	for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2))
		if (extra.readUInt16LE(at) === 1) from = extra.subarray(at + 4, at + 4 + extra.readUInt16LE(at + 2));
	let at = 0;
	return short.map((value) => {
		if (value !== IN_ZIP64) return value;
		if (from === null) throw corrupt();
		const full = Number(from.readBigUInt64LE(at));
		at += 8;
		return full;
	});
}
