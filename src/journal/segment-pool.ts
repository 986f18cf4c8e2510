/**
 * The segment files of a running writer. Spares are created ahead; full segments are kept for a while and then used
 * again. A file is used again only after a checkpoint of the store covers its last group.
 */
import { closeSync, openSync, renameSync, statSync } from "node:fs";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { removeTemporaries, syncFolder, syncFolderNow, writeAll } from "./durable-file.ts";
import { OWNER_FILE_MODE } from "./owner-only.ts";
import { encodeSegmentHeader, listSegments, type SegmentHeader, segmentPath } from "./segment.ts";

export interface SegmentPoolOptions {
	readonly dir: string;
	readonly nodeId: string;
	readonly segmentBytes: number;
	/** Full segments are kept for at least this long, up to this many bytes. */
	readonly keepMs: number;
	readonly keepBytes: number;
	/** The last sequence of the existing files; all of it is applied. */
	readonly lastSeq: number;
	/** A checkpoint of the store covers everything up to this sequence. */
	readonly coveredSeq: number;
	/** Monotonic milliseconds. */
	readonly monotonicMs: () => number;
}

export interface ActiveSegment {
	readonly number: number;
	readonly path: string;
	readonly fd: number;
}

interface FullSegment {
	readonly path: string;
	readonly lastSeq: number;
	readonly fullAtMs: number;
	readonly bytes: number;
}

const SLICE_BYTES = 1 << 20;
/** Bytes of spares that are kept ready: some seconds of full load, while a busy disk fills the next one. */
const SPARE_BYTES = 32 << 20;
const MIN_SPARES = 2;
const MAX_SPARES = 8;
const RETRY_MS = 1_000;
/** Aged segments beyond this number are removed: a quiet server should not keep what a busy hour needed. */
const KEEP_AGED = 2;
const FILLING = "spare.tmp";
const BURST = "burst.tmp";

export class SegmentPool {
	readonly #options: SegmentPoolOptions;
	readonly #spareCount: number;
	#lastNumber = 0;
	/**
	 * Spares in the order of their use. They are open, since the process may have no free file descriptor when one is
	 * needed.
	 */
	#spares: ActiveSegment[] = [];
	#preparing: Promise<void> | null = null;
	#prepareError: Error | null = null;
	#retry: Timer | null = null;
	#full: FullSegment[] = [];
	#coveredSeq = 0;
	#unlinking = new Set<Promise<void>>();
	#stopped = false;

	constructor(options: SegmentPoolOptions) {
		this.#options = options;
		this.#coveredSeq = options.coveredSeq;
		this.#spareCount = Math.max(MIN_SPARES, Math.min(MAX_SPARES, Math.ceil(SPARE_BYTES / options.segmentBytes)));
		this.#adopt();
	}

	get spareReady(): boolean {
		return this.#spares.length > 0;
	}

	/** Why no further spare can be made, or null. */
	get prepareError(): Error | null {
		return this.#prepareError;
	}

	/**
	 * Returns the next segment, open for writing, with its header written. Takes a spare; if a burst has used them
	 * all, creates one synchronously. Throws errors of the file system.
	 */
	take(header: Omit<SegmentHeader, "number">): ActiveSegment {
		const next = this.#spares.shift() ?? this.#makeNow();
		// A file that was removed or moved still accepts writes, but no reader finds it.
		statSync(next.path);
		writeAll(next.fd, encodeSegmentHeader({ ...header, number: next.number }), 0);
		void this.prepare();
		return next;
	}

	/** Creates the missing spares off the event loop. Resolves when the next one exists or has failed. */
	async prepare(): Promise<void> {
		if (this.#stopped || this.#spares.length >= this.#spareCount) return;
		this.#preparing ??= this.#prepare().finally(() => {
			this.#preparing = null;
			if (this.#prepareError === null) void this.prepare();
		});
		await this.#preparing;
	}

	/**
	 * Creates a spare synchronously where a burst has used the last one: a short wait is better than refused requests.
	 * If that fails, `prepareError` is set.
	 */
	makeSpareNow(): void {
		try {
			this.#spares.push(this.#makeNow());
			this.#prepareError = null;
		} catch (error) {
			this.#failed(error as Error);
		}
	}

	/** Adds a segment that the writer has left for the next one. */
	addFull(segment: ActiveSegment, lastSeq: number): void {
		this.#full.push({ path: segment.path, lastSeq, fullAtMs: this.#options.monotonicMs(), bytes: this.#options.segmentBytes });
	}

	/** Notes that everything up to `seq` is in the store and would survive a power cut there. */
	covered(seq: number): void {
		this.#coveredSeq = Math.max(this.#coveredSeq, seq);
		this.#trim();
	}

	async stop(): Promise<void> {
		this.#stopped = true;
		if (this.#retry !== null) clearTimeout(this.#retry);
		await this.#preparing;
		for (const spare of this.#spares.splice(0)) closeSync(spare.fd);
		await Promise.all(this.#unlinking);
	}

	/** Takes over the files of an earlier boot: full segments, spares, incomplete files. */
	#adopt(): void {
		const { dir, nodeId, segmentBytes, lastSeq } = this.#options;
		removeTemporaries(dir);
		const files = listSegments(dir, nodeId);
		this.#lastNumber = files.at(-1)?.number ?? 0;
		for (const file of files) {
			if (file.foreign) continue;
			const spare = file.header === null;
			this.#full.push({
				path: file.path,
				lastSeq: spare ? 0 : lastSeq,
				fullAtMs: spare ? Number.NEGATIVE_INFINITY : this.#options.monotonicMs() - Math.max(0, Date.now() - file.writtenAtMs),
				bytes: file.bytes,
			});
		}
		const ready = this.#full.filter((file) => file.lastSeq === 0 && file.bytes === segmentBytes).slice(0, this.#spareCount);
		this.#full = this.#full.filter((file) => !ready.includes(file));
		for (const file of ready) this.#spares.push(this.#number(file));
		if (ready.length > 0) syncFolderNow(dir);
		this.#trim();
	}

	async #prepare(): Promise<void> {
		try {
			this.#spares.push(await this.#name(this.#takeReusable(false) ?? (await this.#fill())));
			this.#prepareError = null;
		} catch (error) {
			await this.#prepareFromRetained(error as Error);
		}
	}

	/**
	 * Uses a retained segment that the store covers, where no new file can be created: this is better than refusing
	 * callers.
	 */
	async #prepareFromRetained(cause: Error): Promise<void> {
		try {
			const retained = this.#takeReusable(true);
			if (retained === null) throw cause;
			this.#spares.push(await this.#name(retained));
			this.#prepareError = null;
		} catch (error) {
			this.#failed(error as Error);
		}
	}

	#failed(error: Error): void {
		this.#prepareError = error;
		if (this.#retry !== null) clearTimeout(this.#retry);
		this.#retry = setTimeout(() => void this.prepare(), RETRY_MS);
		this.#retry.unref();
	}

	/**
	 * Opens a file and gives it the next number, durably. Repeats this where a burst took a higher number meanwhile.
	 * If it fails, the file stays with the retained ones.
	 */
	async #name(file: FullSegment): Promise<ActiveSegment> {
		let segment = this.#number(file);
		try {
			for (;;) {
				await syncFolder(this.#options.dir);
				if (segment.number === this.#lastNumber) return segment;
				segment = { ...segment, ...this.#rename(segment.path) };
			}
		} catch (error) {
			this.#putBack(segment, file);
			throw error;
		}
	}

	/**
	 * Creates a file filled with zeros, so that a later write needs neither space nor metadata. Writes one slice at a
	 * time.
	 */
	async #fill(): Promise<FullSegment> {
		const path = join(this.#options.dir, FILLING);
		const file = await open(path, "w", OWNER_FILE_MODE);
		try {
			await fillWithZeros(file, this.#options.segmentBytes);
			await file.sync();
		} catch (error) {
			await file.close();
			await unlink(path).catch(() => {});
			throw error;
		}
		await file.close();
		return this.#unused(path);
	}

	#makeNow(): ActiveSegment {
		const file = this.#takeReusable(true) ?? this.#fillNow();
		const segment = this.#number(file);
		try {
			syncFolderNow(this.#options.dir);
		} catch (error) {
			this.#putBack(segment, file);
			throw error;
		}
		return segment;
	}

	#fillNow(): FullSegment {
		const path = join(this.#options.dir, BURST);
		const fd = openSync(path, "w", OWNER_FILE_MODE);
		try {
			const zeros = Buffer.alloc(SLICE_BYTES);
			for (let at = 0; at < this.#options.segmentBytes; at += SLICE_BYTES) {
				writeAll(fd, zeros.subarray(0, Math.min(SLICE_BYTES, this.#options.segmentBytes - at)), at);
			}
		} finally {
			closeSync(fd);
		}
		return this.#unused(path);
	}

	/** Describes a file that has held no group yet. */
	#unused(path: string): FullSegment {
		return { path, lastSeq: 0, fullAtMs: Number.NEGATIVE_INFINITY, bytes: this.#options.segmentBytes };
	}

	#putBack({ fd, path }: ActiveSegment, file: FullSegment): void {
		closeSync(fd);
		this.#full.unshift({ ...file, path });
	}

	#number(file: FullSegment): ActiveSegment {
		let fd: number;
		try {
			fd = openSync(file.path, "r+");
		} catch (error) {
			this.#full.unshift(file);
			throw error;
		}
		return { ...this.#rename(file.path), fd };
	}

	#rename(from: string): Omit<ActiveSegment, "fd"> {
		const number = ++this.#lastNumber;
		const path = segmentPath(this.#options.dir, number);
		renameSync(from, path);
		return { number, path };
	}

	/**
	 * Returns the oldest full segment that may be used again. If `needed` is set, also one that has not reached its
	 * minimum age.
	 */
	#takeReusable(needed: boolean): FullSegment | null {
		const { keepMs, keepBytes, segmentBytes, monotonicMs } = this.#options;
		const exceedsKeepBytes = this.#full.length * segmentBytes > keepBytes;
		const index = this.#full.findIndex(
			(file) =>
				file.bytes === segmentBytes &&
				file.lastSeq <= this.#coveredSeq &&
				(needed || exceedsKeepBytes || monotonicMs() - file.fullAtMs >= keepMs),
		);
		if (index < 0) return null;
		return this.#full.splice(index, 1)[0] ?? null;
	}

	#trim(): void {
		const { keepMs, keepBytes, segmentBytes, monotonicMs } = this.#options;
		let retained = this.#full.reduce((sum, file) => sum + file.bytes, 0);
		let aged = this.#full.filter((file) => monotonicMs() - file.fullAtMs >= keepMs).length;
		this.#full = this.#full.filter((file) => {
			const isAged = monotonicMs() - file.fullAtMs >= keepMs;
			const surplus = retained > keepBytes || (isAged && (aged > KEEP_AGED || file.bytes !== segmentBytes));
			if (file.lastSeq > this.#coveredSeq || !surplus) return true;
			retained -= file.bytes;
			if (isAged) aged--;
			this.#unlink(file.path);
			return false;
		});
	}

	#unlink(path: string): void {
		const done = unlink(path)
			.catch(() => {})
			.finally(() => this.#unlinking.delete(done));
		this.#unlinking.add(done);
	}
}

async function fillWithZeros(file: FileHandle, bytes: number): Promise<void> {
	const zeros = Buffer.alloc(Math.min(SLICE_BYTES, bytes));
	for (let at = 0; at < bytes; ) {
		const { bytesWritten } = await file.write(zeros, 0, Math.min(zeros.length, bytes - at), at);
		at += bytesWritten;
	}
}
