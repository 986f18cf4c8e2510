/**
 * Reads groups in order from a sequence number: at a start to the end of the journal, later as a tailer behind the
 * writer. It always stops at a sequence that is known to be written.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { JournalCorruptError } from "./faults.ts";
import { GROUP_ALIGN_BYTES, GROUP_HEADER_BYTES, type GroupHeader, groupBytes, peekGroup, readGroupHeader } from "./group.ts";
import {
	type JournalPosition,
	listSegments,
	machineBoot,
	SEGMENT_HEADER_BYTES,
	type SegmentFile,
	type SegmentHeader,
} from "./segment.ts";

export interface ReadGroup {
	readonly seq: number;
	/** JSON text of each record. */
	readonly records: readonly string[];
	readonly bytes: number;
	/** Position of the next group. */
	readonly end: JournalPosition;
}

/** Groups that a power cut lost: written but never synced to the disk, so `process` durability does not cover them. */
export interface LostTail {
	readonly fromSeq: number;
	/** Highest sequence found behind the gap; its records are lost too. */
	readonly toSeq: number;
	readonly file: string;
	readonly offset: number;
}

export interface JournalReaderOptions {
	readonly dir: string;
	readonly nodeId: string;
	/** The first sequence to read: the last one that the store has applied, plus one. */
	readonly nextSeq: number;
	/** Id of the machine's boot, for tests. */
	readonly boot?: string;
}

const READ_BYTES = 256 * 1024;

interface OpenSegment {
	readonly file: SegmentFile;
	readonly header: SegmentHeader;
	readonly fd: number;
}

export class JournalReader {
	readonly #options: JournalReaderOptions;
	#nextSeq: number;
	#segment: OpenSegment | null = null;
	#offset = SEGMENT_HEADER_BYTES;
	/** Sequence of the group expected at `#offset`; below `#nextSeq` while applied groups are skipped. */
	#cursor = 0;
	#buffer = Buffer.alloc(READ_BYTES);
	#bufferStart = 0;
	#bufferLength = 0;
	#lostTail: LostTail | null = null;

	constructor(options: JournalReaderOptions) {
		this.#options = options;
		this.#nextSeq = options.nextSeq;
	}

	/** The sequence that the next group read will have. */
	get nextSeq(): number {
		return this.#nextSeq;
	}

	/**
	 * Yields the groups up to and including `lastSeq`, all of which are written. Throws `JournalCorruptError` where one
	 * is missing.
	 */
	*readTo(lastSeq: number): Generator<ReadGroup> {
		this.#bufferLength = 0;
		while (this.#nextSeq <= lastSeq) {
			const group = this.#next();
			if (group === null) throw new JournalCorruptError({ ...this.#place(), foundSeq: null });
			yield group;
		}
	}

	/**
	 * Yields the groups to the end of the journal, for a start. A torn last group is the end, since it was never
	 * answered. Afterwards `lostTail` holds what a power cut lost of the unsynced end. Throws `JournalCorruptError`
	 * where a damaged or missing group had been synced, or if no power cut can explain the damage.
	 */
	*readRest(): Generator<ReadGroup> {
		yield* this.readPresent();
		this.#lostTail = this.#judgeEnd();
	}

	/**
	 * Yields the groups that exist now, behind a running writer: its next write may be incomplete, so the end proves
	 * nothing.
	 */
	*readPresent(): Generator<ReadGroup> {
		this.#bufferLength = 0;
		for (let group = this.#next(); group !== null; group = this.#next()) yield group;
	}

	/** Set by `readRest`; null if nothing is missing. */
	get lostTail(): LostTail | null {
		return this.#lostTail;
	}

	close(): void {
		if (this.#segment !== null) closeSync(this.#segment.fd);
		this.#segment = null;
	}

	#next(): ReadGroup | null {
		for (;;) {
			const header = this.#segment === null ? null : this.#groupHere(this.#segment);
			if (header === null) {
				if (!this.#openNextSegment()) return null;
				continue;
			}
			const payloadAt = this.#offset - this.#bufferStart + GROUP_HEADER_BYTES;
			const text = this.#buffer.toString("utf8", payloadAt, payloadAt + header.payloadBytes);
			this.#offset += groupBytes(header.payloadBytes);
			this.#cursor++;
			if (header.seq < this.#nextSeq) continue;
			this.#nextSeq = header.seq + 1;
			return { seq: header.seq, records: text.split("\n"), bytes: header.payloadBytes, end: this.#position() };
		}
	}

	/**
	 * Returns the group at the offset if it is the expected one and complete. A stale group of an earlier use has a
	 * lower sequence.
	 */
	#groupHere(segment: OpenSegment): GroupHeader | null {
		if (!this.#fill(segment, GROUP_HEADER_BYTES)) return null;
		const peeked = peekGroup(this.#buffer, this.#offset - this.#bufferStart);
		if (peeked === null || peeked.seq !== this.#cursor || peeked.epoch !== segment.header.epoch) return null;
		if (!this.#fill(segment, GROUP_HEADER_BYTES + peeked.payloadBytes)) return null;
		return readGroupHeader(this.#buffer.subarray(0, this.#bufferLength), this.#offset - this.#bufferStart);
	}

	/** Moves to the segment that continues the sequence; returns false if there is none. */
	#openNextSegment(): boolean {
		const live = this.#liveSegments();
		const current = this.#segment;
		const next =
			current === null
				? live.findLast((file) => file.header.firstSeq <= this.#nextSeq)
				: live.find((file) => file.number > current.file.number);
		if (next === undefined) return false;
		// Below `#nextSeq` a gap is no loss: the store has those groups, though a power cut removed them from the
		// journal.
		const firstSeq = next.header.firstSeq;
		if (current !== null && (firstSeq < this.#cursor || firstSeq > this.#nextSeq)) return false;
		return this.#open(next);
	}

	#open(file: SegmentFile & { header: SegmentHeader }): true {
		this.close();
		this.#segment = { file, header: file.header, fd: openSync(file.path, "r") };
		this.#offset = SEGMENT_HEADER_BYTES;
		this.#cursor = file.header.firstSeq;
		this.#bufferLength = 0;
		return true;
	}

	/** Loads `bytes` from the offset into the buffer; returns false if the file ends before. */
	#fill(segment: OpenSegment, bytes: number): boolean {
		if (this.#offset + bytes > segment.file.bytes) return false;
		const isLoaded = this.#offset >= this.#bufferStart && this.#offset + bytes <= this.#bufferStart + this.#bufferLength;
		if (isLoaded) return true;
		if (bytes > this.#buffer.length) this.#buffer = Buffer.alloc(bytes);
		this.#bufferStart = this.#offset;
		this.#bufferLength = readSync(segment.fd, this.#buffer, 0, this.#buffer.length, this.#offset);
		return this.#bufferLength >= bytes;
	}

	#judgeEnd(): LostTail | null {
		const later = this.#laterGroups();
		if (later === null) return null;
		const place = this.#place();
		const boot = this.#options.boot ?? machineBoot();
		const sameBoot = this.#segment?.header.boot === boot && !/^0+$/.test(boot);
		if (sameBoot || this.#segment === null || place.expectedSeq <= later.syncedSeq) {
			throw new JournalCorruptError({ ...place, foundSeq: later.firstSeq });
		}
		return { fromSeq: place.expectedSeq, toSeq: later.lastSeq, file: place.file, offset: place.offset };
	}

	/** Finds complete groups that the store lacks, behind the position where reading ended. */
	#laterGroups(): { firstSeq: number; lastSeq: number; syncedSeq: number } | null {
		const later: GroupHeader[] = [];
		const current = this.#segment?.file.number ?? 0;
		for (const file of this.#liveSegments()) {
			if (file.number < current) continue;
			const startOffset = file.number === current ? this.#offset : SEGMENT_HEADER_BYTES;
			for (const group of scanGroups(file, startOffset)) {
				if (group.epoch === file.header.epoch && group.seq >= this.#nextSeq) later.push(group);
			}
		}
		const first = later[0];
		if (first === undefined) return null;
		return {
			firstSeq: first.seq,
			lastSeq: later.reduce((max, group) => Math.max(max, group.seq), 0),
			syncedSeq: later.reduce((max, group) => Math.max(max, group.syncedSeq), 0),
		};
	}

	#liveSegments(): (SegmentFile & { header: SegmentHeader })[] {
		const live = (file: SegmentFile): file is SegmentFile & { header: SegmentHeader } => file.header !== null;
		return listSegments(this.#options.dir, this.#options.nodeId).filter(live);
	}

	#position(): JournalPosition {
		return { segment: this.#segment?.file.number ?? 0, offset: this.#offset };
	}

	#place(): { file: string; offset: number; expectedSeq: number } {
		return { file: this.#segment?.file.path ?? this.#options.dir, offset: this.#offset, expectedSeq: this.#nextSeq };
	}
}

/**
 * Yields every complete group of a file from an offset, and skips damaged stretches. The groups are evidence only and
 * must not be applied.
 */
function* scanGroups(file: SegmentFile, startOffset: number): Generator<GroupHeader> {
	const buffer = Buffer.alloc(Math.max(0, file.bytes - startOffset));
	const fd = openSync(file.path, "r");
	try {
		readSync(fd, buffer, 0, buffer.length, startOffset);
	} finally {
		closeSync(fd);
	}
	for (let at = 0; at + GROUP_HEADER_BYTES <= buffer.length; ) {
		const header = readGroupHeader(buffer, at);
		if (header !== null) yield header;
		at += header === null ? GROUP_ALIGN_BYTES : groupBytes(header.payloadBytes);
	}
}
