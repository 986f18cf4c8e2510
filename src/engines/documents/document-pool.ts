import { join } from "node:path";
import Value from "typebox/value";
import { ApiError } from "../../errors/index.ts";
import type { Log } from "../../telemetry/log.ts";
import { EngineError } from "../engine-error.ts";
import { EngineProcess } from "../process.ts";
import { type ChildStart, ReadDone } from "./child-work.ts";
import { DocumentFault } from "./document-fault.ts";
import type { DocumentReader } from "./port.ts";

export interface DocumentPoolOptions {
	readonly log: Log;
	/** Files that are read at once, each in a process of its own. */
	readonly processes: number;
	/** For one file, from when its turn comes. */
	readonly limitMs: number;
	/** Resident memory of a process. */
	readonly maxMemoryMb: number;
	/** Files that may wait for their turn. Default 256. */
	readonly maxWaiting?: number;
	readonly idleStopMs?: number;
	/** Path of the program that reads scanned pages, null where there is none. Default: looked up on the PATH. */
	readonly tesseract?: string | null;
	/** The child's entry file. */
	readonly entry?: string;
}

interface Job {
	readonly bytes: Uint8Array;
	readonly name: string;
	readonly signal: AbortSignal;
	resolve(text: string): void;
	reject(fault: unknown): void;
}

const WATCH_EVERY_MS = 100;
/** A process that holds more than this share of its memory after a file is started anew. */
const WORN_SHARE = 0.5;
const START_TIMEOUT_MS = 30_000;

/**
 * Reads files in a few child processes, one file at a time in each; the others wait in their order. A file that takes
 * too long or too much memory ends its process and nothing else.
 */
export class DocumentPool implements DocumentReader {
	readonly #options: DocumentPoolOptions;
	readonly #waiting: Job[] = [];
	readonly #workers: DocumentWorker[] = [];
	readonly #free: DocumentWorker[] = [];
	#closed = false;

	constructor(options: DocumentPoolOptions) {
		this.#options = options;
	}

	read(bytes: Uint8Array, name: string, signal: AbortSignal): Promise<string> {
		if (this.#closed || this.#waiting.length >= (this.#options.maxWaiting ?? 256))
			return Promise.reject(
				new ApiError("SERVICE_UNAVAILABLE", {
					message: "Too many files wait to be read; try again shortly",
					retryAfterSeconds: 2,
				}),
			);
		return new Promise((resolve, reject) => {
			this.#waiting.push({ bytes, name, signal, resolve, reject });
			this.#next();
		});
	}

	/** Processes that run now. */
	pids(): number[] {
		return this.#workers.flatMap((worker) => worker.pid ?? []);
	}

	/** Ends all processes for good; what waits is refused. */
	async stop(): Promise<void> {
		this.#closed = true;
		for (const { reject } of this.#waiting.splice(0)) reject(new ApiError("SERVICE_UNAVAILABLE", { retryAfterSeconds: 2 }));
		await Promise.all(this.#workers.map((worker) => worker.stop()));
	}

	#next(): void {
		const worker = this.#free.pop() ?? this.#newWorker();
		if (worker === null) return;
		const job = this.#waiting.shift();
		if (job === undefined) {
			this.#free.push(worker);
			return;
		}
		void this.#work(worker, job).finally(() => {
			this.#free.push(worker);
			if (this.#waiting.length > 0) this.#next();
		});
	}

	#newWorker(): DocumentWorker | null {
		if (this.#workers.length >= this.#options.processes) return null;
		const worker = new DocumentWorker(this.#options);
		this.#workers.push(worker);
		return worker;
	}

	async #work(worker: DocumentWorker, { bytes, name, signal, resolve, reject }: Job): Promise<void> {
		try {
			signal.throwIfAborted();
			resolve(await worker.read(bytes, name, signal));
		} catch (fault) {
			reject(forCaller(fault));
		}
	}
}

function forCaller(fault: unknown): unknown {
	if (fault instanceof DocumentFault) {
		const issue = { path: ["file"], code: `file_${fault.kind.replace("-", "_")}`, message: fault.message };
		return new ApiError("INVALID_REQUEST", { message: fault.message, param: "file", issues: [issue] });
	}
	if (fault instanceof EngineError)
		return new ApiError("SERVICE_UNAVAILABLE", { retryAfterSeconds: fault.retryAfterSeconds ?? 2, cause: fault });
	return fault;
}

/** One process and the file that it reads. */
class DocumentWorker {
	readonly #options: DocumentPoolOptions;
	#process: EngineProcess<null>;
	#nextId = 0;
	#open: { readonly id: number; settle(done: { text: string } | { fault: unknown }): void } | null = null;

	constructor(options: DocumentPoolOptions) {
		this.#options = options;
		this.#process = this.#newProcess();
	}

	get pid(): number | null {
		return this.#process.pid;
	}

	stop(): Promise<void> {
		return this.#process.close();
	}

	/** @throws DocumentFault, EngineError */
	async read(bytes: Uint8Array, name: string, signal: AbortSignal): Promise<string> {
		const { limitMs, maxMemoryMb } = this.#options;
		await this.#process.start();
		signal.throwIfAborted();
		const id = this.#nextId++;
		const { promise, resolve } = Promise.withResolvers<{ text: string } | { fault: unknown }>();
		this.#open = { id, settle: resolve };
		const end = (why: string, fault: unknown) => {
			resolve({ fault });
			void this.#process.kill(why);
		};
		const leave = () => end("its caller left", signal.reason);
		const late = setTimeout(() => end("a file took too long", tooSlow(limitMs)), limitMs);
		const watch = setInterval(() => {
			void this.#process.rssBytes().then((rss) => {
				if (rss !== null && rss > maxMemoryMb * 2 ** 20 && this.#open?.id === id) end("a file took too much memory", tooHungry());
			});
		}, WATCH_EVERY_MS);
		signal.addEventListener("abort", leave, { once: true });
		try {
			if (!this.#process.send({ id, bytes, name })) throw new EngineError("exited", "The document reader ended");
			const done = await promise;
			if ("fault" in done) throw done.fault;
			return done.text;
		} finally {
			clearTimeout(late);
			clearInterval(watch);
			signal.removeEventListener("abort", leave);
			this.#open = null;
			await this.#rest();
		}
	}

	/** A process that a large file has grown gives its memory back. */
	async #rest(): Promise<void> {
		const rss = await this.#process.rssBytes();
		if (rss !== null && rss > this.#options.maxMemoryMb * 2 ** 20 * WORN_SHARE) await this.#process.kill("it holds much memory");
	}

	#newProcess(): EngineProcess<null> {
		const { log, tesseract = Bun.which("tesseract") } = this.#options;
		const start: ChildStart = { tesseract };
		return new EngineProcess({
			name: "documents",
			entry: this.#options.entry ?? join(import.meta.dir, "child.ts"),
			init: async () => start,
			parseReady: () => null,
			onDone: (done) => this.#onDone(done),
			onExit: () => this.#onExit(),
			log,
			startTimeoutMs: START_TIMEOUT_MS,
			// The watch over each file comes first: it says to the caller why.
			maxMemoryMb: this.#options.maxMemoryMb * 2,
			idleStopMs: this.#options.idleStopMs ?? 300_000,
			unresponsiveMs: this.#options.limitMs * 2,
		});
	}

	#onDone(done: unknown): void {
		const { id, text, fault } = Value.Parse(ReadDone, done);
		if (this.#open?.id !== id) return;
		this.#open.settle(fault === undefined ? { text: text ?? "" } : { fault: new DocumentFault(fault.kind, fault.message) });
	}

	/** It ended in the middle of a file: that file's fault. The next file gets a process without a bad name. */
	#onExit(): void {
		if (this.#open === null) return;
		this.#open.settle({
			fault: new DocumentFault("too-costly", "The file could not be read: its reader ended in the middle of it"),
		});
		this.#process = this.#newProcess();
	}
}

const tooSlow = (limitMs: number) =>
	new DocumentFault("too-costly", `The file takes longer than ${limitMs / 1_000} s to read; send it in parts`);
const tooHungry = () => new DocumentFault("too-costly", "The file takes more memory than a file may; send it in parts");
