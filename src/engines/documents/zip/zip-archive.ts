import { crc32, inflateRawSync } from "node:zlib";
import {
	ZIP_DEFLATED,
	ZIP_STORED,
	type ZipEntry,
	zipDataOffset,
	zipDirectoryPlace,
	zipEntries,
} from "../../../wire/zip-directory.ts";
import { DocumentFault } from "../document-fault.ts";
import { MAX_INFLATED_BYTES, MAX_RATIO, MAX_ZIP_ENTRIES, RATIO_FREE_BYTES } from "../limits.ts";
import type { PackageParts } from "../office/package-parts.ts";

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
	readonly #entries: ReadonlyMap<string, ZipEntry>;
	/** Part names are case-insensitive (ECMA-376 part 2, 6.2.2.3); null until the first look-up that finds no exact name. */
	#folded: Map<string, ZipEntry> | null = null;
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
		const bytes = entry.method === ZIP_STORED ? packed : inflateEntry(packed, entry, name);
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

	#entry(name: string): ZipEntry | undefined {
		const exact = this.#entries.get(name);
		if (exact !== undefined) return exact;
		this.#folded ??= new Map([...this.#entries].map(([other, entry]) => [other.toLowerCase(), entry]));
		return this.#folded.get(name.toLowerCase());
	}

	#packed({ headerAt, packedBytes }: ZipEntry): Buffer {
		const offset = zipDataOffset(this.#bytes.subarray(headerAt));
		if (offset === null) throw corrupt();
		const start = headerAt + offset;
		if (start + packedBytes > this.#bytes.length) throw corrupt();
		return this.#bytes.subarray(start, start + packedBytes);
	}
}

const damaged = (name: string) =>
	new DocumentFault("corrupt", `The file is cut off or damaged: its part ${name} cannot be unpacked`);

function inflateEntry(packed: Buffer, { method, bytes }: ZipEntry, name: string): Buffer {
	if (method !== ZIP_DEFLATED) throw new DocumentFault("unsupported", "The file is packed by a method that is not read");
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

function refuseBomb(entries: ReadonlyMap<string, ZipEntry>): void {
	let declared = 0;
	for (const [name, { bytes, packedBytes }] of entries) {
		if (!TEXT_PART.test(name)) continue;
		declared += bytes;
		if (bytes > RATIO_FREE_BYTES && bytes > packedBytes * MAX_RATIO)
			throw new DocumentFault("too-large", `The part ${name} inflates ${Math.round(bytes / Math.max(1, packedBytes))} times`);
	}
	if (declared > MAX_INFLATED_BYTES) throw tooLarge(declared);
}

function directory(bytes: Buffer): Map<string, ZipEntry> {
	const place = zipDirectoryPlace(bytes);
	if (place === null) throw corrupt();
	if (place.entries > MAX_ZIP_ENTRIES) throw new DocumentFault("too-large", `The file has more than ${MAX_ZIP_ENTRIES} parts`);
	const entries = new Map<string, ZipEntry>();
	for (const entry of zipEntries(bytes.subarray(place.offset), place.entries))
		entries.set(entry.name.replaceAll("\\", "/").replace(LEADING, ""), entry);
	return entries;
}
