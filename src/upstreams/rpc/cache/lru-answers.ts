/** The memory of an entry in addition to its bytes: the map's slot, the objects, the array's header. */
const ENTRY_BYTES = 400;
/** An entry may use at most 1/SHARE of the whole memory. */
const SHARE = 8;
const MAX_VALUE_BYTES = 8 * 1024 * 1024;

interface Entry {
	readonly network: string;
	/** The highest block that the entry depends on; null if it depends on none. */
	readonly block: number | null;
	/** The expiry on the injected clock; null if the entry never expires. */
	readonly expiresAtMs: number | null;
	readonly value: Uint8Array;
	readonly bytes: number;
}

/** Keeps results in memory up to a limit in bytes. The least recently used go first. */
export class LruAnswers {
	#maxBytes: number;
	/** Entries in the order of use. */
	readonly #entries = new Map<string, Entry>();
	#bytes = 0;

	constructor(maxBytes: number) {
		this.#maxBytes = maxBytes;
	}

	get bytes(): number {
		return this.#bytes;
	}

	get entries(): number {
		return this.#entries.size;
	}

	/** Values with more bytes are not stored. */
	get maxValueBytes(): number {
		return Math.min(MAX_VALUE_BYTES, Math.floor(this.#maxBytes / SHARE));
	}

	/** Returns the value under this key if everything it depends on is at or below `finalBlock`. */
	get(key: string, finalBlock: number | null, nowMs: number): Uint8Array | null {
		const entry = this.#entries.get(key);
		if (entry === undefined) return null;
		if (entry.expiresAtMs !== null && entry.expiresAtMs <= nowMs) {
			this.#delete(key, entry);
			return null;
		}
		if (entry.block !== null && (finalBlock === null || entry.block > finalBlock)) return null;
		this.#entries.delete(key);
		this.#entries.set(key, entry);
		return entry.value;
	}

	/** Stores a copy of the value. */
	set(key: string, entry: Omit<Entry, "bytes">): void {
		const bytes = ENTRY_BYTES + 2 * key.length + entry.value.length;
		if (entry.value.length > this.maxValueBytes || bytes > this.#maxBytes) return;
		const before = this.#entries.get(key);
		if (before !== undefined) this.#delete(key, before);
		this.#entries.set(key, { ...entry, value: new Uint8Array(entry.value), bytes });
		this.#bytes += bytes;
		this.#shrink();
	}

	/** Changes the limit, and removes entries above the new one. */
	resize(maxBytes: number): void {
		this.#maxBytes = maxBytes;
		this.#shrink();
	}

	/** Removes entries that depend on blocks of the network above this one. */
	dropAbove(network: string, block: number): void {
		for (const [key, entry] of this.#entries)
			if (entry.network === network && entry.block !== null && entry.block > block) this.#delete(key, entry);
	}

	#shrink(): void {
		for (const [oldest, { bytes: evictedBytes }] of this.#entries) {
			if (this.#bytes <= this.#maxBytes) break;
			this.#entries.delete(oldest);
			this.#bytes -= evictedBytes;
		}
	}

	#delete(key: string, entry: Entry): void {
		this.#entries.delete(key);
		this.#bytes -= entry.bytes;
	}
}
