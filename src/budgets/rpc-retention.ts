import type { Journal } from "../journal/records.ts";
import type { StorePort } from "../store/port.ts";
import { type Clock, sleep, type Timers } from "../telemetry/clock.ts";
import type { AnswerFiles } from "./answer-files.ts";

export interface RpcRetentionOptions {
	readonly store: Pick<StorePort, "admin" | "kind" | "node" | "shared">;
	readonly journal: Pick<Journal, "appliedSeq">;
	readonly clock: Clock;
	readonly timers: Timers;
	readonly files: AnswerFiles;
	/** `rpc.sendsKeptDays` of the config now in force. */
	readonly sendsKeptDays: () => number;
}

const DAY_MS = 86_400_000;
const EVERY_MS = 60_000;
/** A step is short, so that other work runs between two. */
const ROWS = 200;
const PAUSE_MS = 20;
const NAMES = 500;
/**
 * How often files are searched that lost their answer in another way, such as an erased account. A younger file may
 * still wait for its post.
 */
const ORPHANS_EVERY_MS = 3_600_000;
const ORPHAN_AFTER_MS = 900_000;
/** After a failover bodies are shipped again; as long as the journal keeps its segments, the files are available. */
const SHIPPED_FOR_MS = 600_000;
const SHIPPED_BYTES = 256 << 20;

interface ShippedFile {
	readonly name: string;
	readonly bytes: number;
	/** Sequence of the post that names it. */
	readonly seq: number;
	readonly atMs: number;
}

/** Deletes expired answers and sends, and files that belong to none; in small steps, off the path of requests. */
export class RpcRetention {
	readonly #options: RpcRetentionOptions;
	/** Files of this boot, oldest first, where the store holds the bodies. */
	readonly #shipped: ShippedFile[] = [];
	#shippedBytes = 0;
	#orphansAtMs = Number.NEGATIVE_INFINITY;
	#cancel: () => void;
	#running: Promise<void>;
	#closed = false;

	/** Starts with the files that a crash of an earlier boot left. */
	constructor(options: RpcRetentionOptions) {
		this.#options = options;
		this.#cancel = options.timers.after(EVERY_MS, () => this.#again());
		this.#running = this.#removeLeftOver(options.store.node.epoch).catch(() => {});
	}

	/** Records that a post names the file. Where the store holds no bodies, the file stays until its answer expires. */
	onPosted(name: string, bytes: number, seq: number): void {
		if (this.#options.store.kind === "sqlite") return;
		this.#shipped.push({ name, bytes, seq, atMs: this.#options.clock.monotonicMs() });
		this.#shippedBytes += bytes;
	}

	/** Runs one whole sweep, after the running one. Rejects with the error of the store. */
	async sweep(): Promise<void> {
		await this.#running;
		await this.#removeShipped();
		for (let more = true; more && !this.#closed; ) {
			const nowMs = this.#options.clock.wallMs();
			const sendsBeforeMs = nowMs - this.#options.sendsKeptDays() * DAY_MS;
			const swept = await this.#options.store.admin("sweepRpc", { nowMs, sendsBeforeMs, rows: ROWS });
			for (const name of swept.files) await this.#options.files.remove(name);
			more = swept.more;
			if (more) await sleep(this.#options.timers, PAUSE_MS);
		}
		await this.#removeOrphans();
	}

	/** Resolves when no step runs any more. */
	async close(): Promise<void> {
		this.#closed = true;
		this.#cancel();
		await this.#running;
	}

	#again(): void {
		if (this.#closed) return;
		// If the store is unreachable, the next sweep finds the same rows.
		const swept = this.sweep().catch(() => {});
		this.#running = swept;
		void swept.then(() => {
			if (!this.#closed) this.#cancel = this.#options.timers.after(EVERY_MS, () => this.#again());
		});
	}

	/**
	 * Removes files of earlier boots that no answer names. The journals of these boots are fully applied. Workers share
	 * the folder, and do not know each other's boots: there, age decides (`#removeOrphans`).
	 */
	async #removeLeftOver(epoch: number): Promise<void> {
		const { kind, shared } = this.#options.store;
		if (kind === "sqlite" && shared) return;
		await this.#removeUnnamed(await this.#options.files.ofEarlierEpochs(epoch));
	}

	async #removeOrphans(): Promise<void> {
		const now = this.#options.clock.monotonicMs();
		if (this.#options.store.kind === "postgres" || now - this.#orphansAtMs < ORPHANS_EVERY_MS) return;
		this.#orphansAtMs = now;
		// The file system stamps files with the machine's clock.
		await this.#removeUnnamed(await this.#options.files.olderThan(Date.now() - ORPHAN_AFTER_MS));
	}

	async #removeUnnamed(names: readonly string[]): Promise<void> {
		const { files, store } = this.#options;
		for (let at = 0; at < names.length && !this.#closed; at += NAMES) {
			const some = names.slice(at, at + NAMES);
			const namedFiles = new Set(store.kind === "postgres" ? [] : await store.admin("keptAnswerFiles", { names: some }));
			for (const name of some) if (!namedFiles.has(name)) await files.remove(name);
		}
	}

	/** Removes bodies that are in the shared store. */
	async #removeShipped(): Promise<void> {
		for (let oldest = this.#shipped[0]; oldest !== undefined; oldest = this.#shipped[0]) {
			const old = this.#options.clock.monotonicMs() - oldest.atMs > SHIPPED_FOR_MS || this.#shippedBytes > SHIPPED_BYTES;
			if (!old || oldest.seq > this.#options.journal.appliedSeq) return;
			this.#shipped.shift();
			this.#shippedBytes -= oldest.bytes;
			await this.#options.files.remove(oldest.name);
		}
	}
}
