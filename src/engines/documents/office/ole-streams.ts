import { DocumentFault } from "../document-fault.ts";

const HEADER_BYTES = 512;
const ENTRY_BYTES = 128;
const SECTORS_IN_HEADER = 109;
/** Numbers from here on end a chain of sectors. */
const FIRST_SPECIAL = 0xfffffffa;
const STREAM = 2;

interface Entry {
	readonly name: string;
	readonly type: number;
	readonly left: number;
	readonly right: number;
	readonly child: number;
	readonly start: number;
	readonly size: number;
}

/** The streams in the root of an OLE file ([MS-CFB]). A chain of sectors that leaves the file or is circular is damage. */
export class OleStreams {
	readonly #bytes: Buffer;
	readonly #sectorBytes: number;
	readonly #shortBytes: number;
	readonly #shortBelow: number;
	readonly #next: readonly number[];
	readonly #nextShort: readonly number[];
	readonly #shorts: Buffer;
	readonly #streams = new Map<string, Entry>();

	/** @throws DocumentFault */
	constructor(bytes: Buffer) {
		if (bytes.length < HEADER_BYTES) throw damaged();
		this.#bytes = bytes;
		const shifts = [bytes.readUInt16LE(30), bytes.readUInt16LE(32)];
		if (shifts[0] === undefined || shifts[1] === undefined || ![9, 12].includes(shifts[0]) || shifts[1] !== 6) throw damaged();
		this.#sectorBytes = 2 ** shifts[0];
		this.#shortBytes = 2 ** shifts[1];
		this.#shortBelow = bytes.readUInt32LE(56);
		this.#next = words(Buffer.concat(this.#tableSectors().map((sector) => this.#sector(sector))));
		const entries = this.#entries(this.#chain(bytes.readUInt32LE(48)));
		this.#nextShort = words(this.#chain(bytes.readUInt32LE(60)));
		const root = entries[0];
		if (root === undefined) throw damaged();
		this.#shorts = root.size === 0 ? Buffer.alloc(0) : this.#chain(root.start);
		this.#gather(entries, root.child);
	}

	/** Returns true if the root has a stream of this name. */
	has(name: string): boolean {
		return this.#streams.has(name.toLowerCase());
	}

	/**
	 * Returns a stream of the root by its case-insensitive name; null if there is none.
	 * @throws {DocumentFault}
	 */
	stream(name: string): Buffer | null {
		const entry = this.#streams.get(name.toLowerCase());
		if (entry === undefined) return null;
		if (entry.size === 0) return Buffer.alloc(0);
		if (entry.size >= this.#shortBelow) return whole(this.#chain(entry.start), entry.size);
		const parts: Buffer[] = [];
		for (const sector of follow(entry.start, this.#nextShort)) {
			const at = sector * this.#shortBytes;
			parts.push(this.#shorts.subarray(at, at + this.#shortBytes));
		}
		return whole(Buffer.concat(parts), entry.size);
	}

	/** Returns the sectors of the allocation table: the first are in the header, the others in their own chain. */
	#tableSectors(): number[] {
		const bytes = this.#bytes;
		const sectors: number[] = [];
		for (let index = 0; index < SECTORS_IN_HEADER; index += 1) sectors.push(bytes.readUInt32LE(76 + index * 4));
		const seen = new Set<number>();
		for (let more = bytes.readUInt32LE(68); more < FIRST_SPECIAL; ) {
			if (seen.has(more)) throw damaged();
			seen.add(more);
			const list = words(this.#sector(more));
			more = list.pop() ?? FIRST_SPECIAL;
			sectors.push(...list);
		}
		return [...new Set(sectors.filter((sector) => sector < FIRST_SPECIAL))];
	}

	#sector(number: number): Buffer {
		const at = (number + 1) * this.#sectorBytes;
		if (at >= this.#bytes.length) throw damaged();
		return this.#bytes.subarray(at, at + this.#sectorBytes);
	}

	#chain(start: number): Buffer {
		const parts: Buffer[] = [];
		for (const sector of follow(start, this.#next)) parts.push(this.#sector(sector));
		return Buffer.concat(parts);
	}

	#entries(directory: Buffer): Entry[] {
		const entries: Entry[] = [];
		for (let at = 0; at + ENTRY_BYTES <= directory.length; at += ENTRY_BYTES) {
			const nameBytes = Math.min(64, directory.readUInt16LE(at + 64));
			entries.push({
				name: directory.toString("utf16le", at, at + Math.max(0, nameBytes - 2)),
				type: directory.readUInt8(at + 66),
				left: directory.readUInt32LE(at + 68),
				right: directory.readUInt32LE(at + 72),
				child: directory.readUInt32LE(at + 76),
				start: directory.readUInt32LE(at + 116),
				size: directory.readUInt32LE(at + 120),
			});
		}
		return entries;
	}

	/** The entries of one storage form a tree of siblings. */
	#gather(entries: readonly Entry[], first: number): void {
		const seen = new Set<number>();
		const waiting = [first];
		for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
			const entry = entries[at];
			if (entry === undefined || seen.has(at)) continue;
			seen.add(at);
			if (entry.type === STREAM) this.#streams.set(entry.name.toLowerCase(), entry);
			waiting.push(entry.left, entry.right);
		}
	}
}

function* follow(start: number, next: readonly number[]): Generator<number> {
	let steps = 0;
	for (let sector = start; sector < FIRST_SPECIAL; sector = next[sector] ?? 0xffffffff) {
		if (++steps > next.length) throw damaged();
		yield sector;
	}
}

function words(bytes: Buffer): number[] {
	const list: number[] = [];
	for (let at = 0; at + 4 <= bytes.length; at += 4) list.push(bytes.readUInt32LE(at));
	return list;
}

function whole(bytes: Buffer, size: number): Buffer {
	if (bytes.length < size) throw damaged();
	return bytes.subarray(0, size);
}

const damaged = () => new DocumentFault("corrupt", "The file is cut off or damaged: it cannot be read");
