/** Gathers the records of a turn of the event loop into one group, writes it, and reports when it is durable. */
import { closeSync, fdatasync } from "node:fs";
import { DISK_SECONDS, Histogram } from "../telemetry/histogram.ts";
import { writeAll } from "./durable-file.ts";
import { JournalRecordTooLargeError } from "./faults.ts";
import { FreeDisk } from "./free-disk.ts";
import { GROUP_HEADER_BYTES, groupBytes, sealGroup } from "./group.ts";
import type { JournalOptions } from "./journal-options.ts";
import type { Journal, JournalRecord, WorkRefusal } from "./records.ts";
import { type JournalPosition, machineBoot, nodeDigest, SEGMENT_HEADER_BYTES } from "./segment.ts";
import { type ActiveSegment, SegmentPool } from "./segment-pool.ts";

/** The progress that the store thread reports. */
export interface StoreProgress {
	readonly appliedSeq: number;
	/** Where the store continues reading; null before it has read anything of this boot. */
	readonly position: JournalPosition | null;
	/** The store would survive a power cut up to this sequence. */
	readonly checkpointedSeq: number;
	/** True if the store cannot be written now. */
	readonly failing: boolean;
}

/** Upper bound of a group's size, so that its tail never wastes much of a segment. */
const GROUP_MAX_BYTES = 1 << 20;
const NEWLINE = 0x0a;
/** Most bytes that UTF-8 needs for one UTF-16 unit. */
const UTF8_PER_UNIT = 3;

interface Waiter {
	readonly seq: number;
	readonly resolve: () => void;
	readonly reject: (error: Error) => void;
	readonly promise: Promise<void>;
}

export class JournalWriter implements Journal {
	readonly syncSeconds = new Histogram(DISK_SECONDS);
	readonly #options: JournalOptions;
	readonly #disk: FreeDisk;
	readonly #pool: SegmentPool;
	readonly #maxPayloadBytes: number;
	readonly #node: string;
	readonly #boot = machineBoot();
	#segment: ActiveSegment;
	#offset = SEGMENT_HEADER_BYTES;
	#nextSeq: number;

	#buffer: Buffer;
	#payloadBytes = 0;
	#gathering: Waiter | null = null;

	/** Written groups whose `append` has not resolved, in order. */
	#waiting: Waiter[] = [];
	#syncedSeq: number;
	#syncing: Promise<void> | null = null;
	#syncTimer: Timer | null = null;
	/** Segments that were left before they were synced. */
	#leaving: ActiveSegment[] = [];

	#appliedSeq: number;
	#appliedPosition: JournalPosition;
	#failingSinceMs: number | null = null;

	#closing: Promise<void> | null = null;
	#broken: Error | null = null;
	#onWritten: () => void = () => {};

	constructor(options: JournalOptions) {
		this.#options = options;
		this.#node = nodeDigest(options.start.nodeId);
		this.#nextSeq = options.start.nextSeq;
		this.#appliedSeq = options.start.nextSeq - 1;
		this.#syncedSeq = options.start.nextSeq - 1;
		const segmentPayloadBytes = options.segmentBytes - SEGMENT_HEADER_BYTES - GROUP_HEADER_BYTES - 8;
		this.#maxPayloadBytes = Math.min(GROUP_MAX_BYTES, segmentPayloadBytes);
		this.#buffer = Buffer.alloc(groupBytes(this.#maxPayloadBytes));
		this.#disk = new FreeDisk(options.dir, options.minFreeDiskBytes, options.diskCheckMs);
		this.#pool = new SegmentPool({
			dir: options.dir,
			nodeId: options.start.nodeId,
			segmentBytes: options.segmentBytes,
			keepMs: options.keepMs,
			keepBytes: options.keepBytes,
			lastSeq: options.start.nextSeq - 1,
			coveredSeq: options.start.checkpointedSeq ?? 0,
			monotonicMs: options.monotonicMs,
		});
		this.#segment = this.#takeSegment();
		this.#appliedPosition = { segment: this.#segment.number, offset: this.#offset };
	}

	/**
	 * Resolves when the free disk was checked and the first spare was created. If that failed, `workRefusal` reports
	 * it.
	 */
	async ready(): Promise<void> {
		await Promise.all([this.#disk.check(), this.#pool.prepare()]);
	}

	get writtenSeq(): number {
		return this.#gathering === null ? this.#nextSeq - 1 : this.#nextSeq;
	}

	/** Sequence number of the last group in the file. */
	get flushedSeq(): number {
		return this.#nextSeq - 1;
	}

	get appliedSeq(): number {
		return this.#appliedSeq;
	}

	get backlogBytes(): number {
		if (this.#appliedSeq >= this.#nextSeq - 1) return 0;
		const applied = this.#appliedPosition;
		return (this.#segment.number - applied.segment) * this.#options.segmentBytes + this.#offset - applied.offset;
	}

	append(record: JournalRecord): Promise<void> {
		if (this.#broken !== null) throw this.#broken;
		if (this.#closing !== null) throw new Error("the journal is closed; records come before its close");
		const json = JSON.stringify(record);
		this.#makeRoomFor(json);
		if (this.#broken !== null) throw this.#broken;
		const gathering = this.#gathering ?? this.#startGroup();
		if (this.#payloadBytes > 0) this.#buffer[GROUP_HEADER_BYTES + this.#payloadBytes++] = NEWLINE;
		this.#payloadBytes += this.#buffer.write(json, GROUP_HEADER_BYTES + this.#payloadBytes);
		return gathering.promise;
	}

	workRefusal(): WorkRefusal | null {
		if (this.#closing !== null || this.#broken !== null) return CLOSING;
		if (!this.#pool.spareReady && this.#pool.prepareError !== null) return NO_SEGMENT;
		if (this.#disk.low) return DISK_LOW;
		if (this.backlogBytes > this.#options.maxBacklogBytes) return BACKLOG;
		if (this.#options.durability === "store" && this.#failingSinceMs !== null) {
			if (this.#options.monotonicMs() - this.#failingSinceMs > this.#options.graceMs) return GRACE_ENDED;
		}
		return null;
	}

	/** Writes what this turn has gathered so far, so that `writtenSeq` is in the file. */
	flush(): void {
		const group = this.#gathering;
		if (group === null) return;
		this.#gathering = null;
		if (this.#broken !== null) {
			group.reject(this.#broken);
			return;
		}
		try {
			this.#write();
		} catch (error) {
			this.#break(error as Error);
			group.reject(error as Error);
			return;
		}
		if (this.#options.durability === "process") group.resolve();
		else this.#waiting.push(group);
		this.#syncSoon();
		this.#onWritten();
	}

	/** Sets the listener that runs after each written group and notifies the store thread. */
	onWritten(listener: () => void): void {
		this.#onWritten = listener;
	}

	/** Applies the store thread's report: frees backlog and segments and, with `store` durability, resolves appends. */
	progress(report: StoreProgress): void {
		this.#appliedSeq = Math.max(this.#appliedSeq, report.appliedSeq);
		this.#appliedPosition = report.position ?? this.#appliedPosition;
		this.#pool.covered(report.checkpointedSeq);
		if (!report.failing) this.#failingSinceMs = null;
		else this.#failingSinceMs ??= this.#options.monotonicMs();
		this.#resolveDurable();
	}

	close(): Promise<void> {
		this.#closing ??= this.#close();
		return this.#closing;
	}

	#startGroup(): Waiter {
		let resolve = () => {};
		let reject = (_error: Error) => {};
		const promise = new Promise<void>((onResolve, onReject) => {
			resolve = onResolve;
			reject = onReject;
		});
		this.#gathering = { seq: this.#nextSeq, resolve, reject, promise };
		setImmediate(() => this.flush());
		return this.#gathering;
	}

	/** Ends the group where the record would exceed its bound. Throws `JournalRecordTooLargeError`. */
	#makeRoomFor(json: string): void {
		const free = () => this.#maxPayloadBytes - this.#payloadBytes - 1;
		if (json.length * UTF8_PER_UNIT <= free()) return;
		const bytes = Buffer.byteLength(json);
		if (bytes > this.#maxPayloadBytes) throw new JournalRecordTooLargeError(bytes, this.#maxPayloadBytes);
		if (bytes > free()) this.flush();
	}

	#write(): void {
		const total = groupBytes(this.#payloadBytes);
		if (this.#offset + total > this.#options.segmentBytes) this.#rotate();
		sealGroup(this.#buffer, {
			payloadBytes: this.#payloadBytes,
			epoch: this.#options.start.epoch,
			seq: this.#nextSeq,
			syncedSeq: this.#syncedSeq,
		});
		writeAll(this.#segment.fd, this.#buffer.subarray(0, total), this.#offset);
		this.#payloadBytes = 0;
		this.#offset += total;
		this.#nextSeq++;
		// Half a segment is more than all running requests post: they can post even where no other segment can be
		// created.
		const { spareReady, prepareError } = this.#pool;
		if (!spareReady && prepareError === null && this.#offset > this.#options.segmentBytes / 2) this.#pool.makeSpareNow();
	}

	#rotate(): void {
		this.#pool.addFull(this.#segment, this.#nextSeq - 1);
		this.#leaving.push(this.#segment);
		this.#segment = this.#takeSegment();
		this.#offset = SEGMENT_HEADER_BYTES;
	}

	#takeSegment(): ActiveSegment {
		return this.#pool.take({
			epoch: this.#options.start.epoch,
			firstSeq: this.#nextSeq,
			node: this.#node,
			boot: this.#boot,
		});
	}

	#syncSoon(): void {
		if (this.#syncing !== null || this.#syncTimer !== null) return;
		if (this.#options.durability !== "process") {
			this.#startSync();
			return;
		}
		this.#syncTimer = setTimeout(() => {
			this.#syncTimer = null;
			this.#startSync();
		}, this.#options.syncEveryMs);
		this.#syncTimer.unref();
	}

	#startSync(): void {
		this.#syncing = this.#sync().then(
			() => {
				this.#syncing = null;
				this.#resolveDurable();
				if (this.#syncedSeq < this.#nextSeq - 1 && this.#closing === null) this.#syncSoon();
			},
			(error: Error) => this.#break(error),
		);
	}

	/** Syncs the file. One sync covers every group written before it; groups that arrive meanwhile share the next one. */
	async #sync(): Promise<void> {
		const covers = this.#nextSeq - 1;
		const leftSegments = this.#leaving;
		this.#leaving = [];
		const startedAt = performance.now();
		for (const segment of leftSegments) {
			await fdatasyncOf(segment.fd);
			closeSync(segment.fd);
		}
		await fdatasyncOf(this.#segment.fd);
		this.syncSeconds.add((performance.now() - startedAt) / 1_000);
		this.#syncedSeq = covers;
	}

	#resolveDurable(): void {
		const { durability } = this.#options;
		if (durability === "process" || this.#waiting.length === 0) return;
		const bySync = durability === "power" || this.#failingSinceMs !== null;
		const durableSeq = bySync ? Math.max(this.#syncedSeq, this.#appliedSeqForAnswers()) : this.#appliedSeq;
		let doneCount = 0;
		for (const waiter of this.#waiting) {
			if (waiter.seq > durableSeq) break;
			waiter.resolve();
			doneCount++;
		}
		this.#waiting.splice(0, doneCount);
	}

	#appliedSeqForAnswers(): number {
		return this.#options.durability === "store" ? this.#appliedSeq : 0;
	}

	#break(error: Error): void {
		if (this.#broken !== null) return;
		this.#broken = error;
		for (const waiter of this.#waiting.splice(0)) waiter.reject(error);
		this.#options.onFatal(error);
	}

	async #close(): Promise<void> {
		this.flush();
		if (this.#syncTimer !== null) clearTimeout(this.#syncTimer);
		await this.#syncing;
		if (this.#broken === null) await this.#sync();
		this.#resolveDurable();
		closeSync(this.#segment.fd);
		this.#disk.stop();
		await this.#pool.stop();
	}
}

function fdatasyncOf(fd: number): Promise<void> {
	return new Promise((resolve, reject) => fdatasync(fd, (error) => (error ? reject(error) : resolve())));
}

const CLOSING: WorkRefusal = { reason: "closing", message: "This node is stopping; try again shortly", retryAfterSeconds: 5 };
const NO_SEGMENT: WorkRefusal = {
	reason: "segment",
	message: "The journal's next segment cannot be created; no new requests are accepted until it can",
	retryAfterSeconds: 2,
};
const DISK_LOW: WorkRefusal = {
	reason: "disk",
	message: "The data folder's disk is nearly full; no new requests are accepted until space is freed",
	retryAfterSeconds: 10,
};
const BACKLOG: WorkRefusal = {
	reason: "backlog",
	message: "The store is behind the journal; no new requests are accepted until it has caught up",
	retryAfterSeconds: 2,
};
const GRACE_ENDED: WorkRefusal = {
	reason: "grace",
	message: "The store cannot be reached; no new requests are accepted until it can",
	retryAfterSeconds: 5,
};
