import { type ChildProcessByStdio, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ApiError } from "../../errors/index.ts";
import { FairQueue } from "../../fairness/index.ts";
import { boundMemory } from "../cgroup.ts";
import { childEnvironment } from "../process.ts";
import { limitTree } from "../process-tree.ts";
import { ffmpegArguments } from "./ffmpeg-arguments.ts";
import { FfmpegProgram, type FfmpegProgramOptions } from "./ffmpeg-program.ts";
import { everyHour, removeLeftFolders } from "./left-folders.ts";
import type { AudioEncoder, AudioEncoderState, EncodeRequest } from "./port.ts";

const MAX_WORDS_CHARS = 2_000;
/** Resident memory; active encoders need a tenth of it. */
const MAX_MEMORY_BYTES = 512 * 2 ** 20;
const FOLDER_PREFIX = "turnpike-audio-";
/** A program that writes a stream lives as long as the stream, so there may be more programs than processors. */
const MAX_PROCESSES = 16;
const MAX_WAITING = 256;

export interface FfmpegEncoderOptions extends FfmpegProgramOptions {
	/** The number of concurrent programs; one more is reserved for a tenant that has none. Default: 16. */
	readonly processes?: number;
}

/** Encodes audio in the callers' formats by ffmpeg, one process for each request, tenants in turns. */
export class FfmpegEncoder implements AudioEncoder {
	readonly #program: FfmpegProgram;
	readonly #isSweepDue = everyHour();
	readonly #places: FairQueue;

	constructor({ processes = MAX_PROCESSES, ...options }: FfmpegEncoderOptions) {
		this.#program = new FfmpegProgram(options);
		this.#places = new FairQueue({
			places: processes,
			reserve: true,
			maxWaiting: MAX_WAITING,
			overflow: () =>
				new ApiError("MODEL_OVERLOADED", { message: "Too much audio is under way; try again shortly", retryAfterSeconds: 1 }),
		});
	}

	state(): Promise<AudioEncoderState> {
		return this.#program.state();
	}

	prefetch(): void {
		this.#program.prefetch();
	}

	stop(): Promise<void> {
		return this.#program.stop();
	}

	async *stream(request: EncodeRequest): AsyncGenerator<Uint8Array, void> {
		const path = await this.#program.path();
		request.signal.throwIfAborted();
		const leave = await this.#places.enter(request);
		try {
			yield* streamed(new FfmpegRun(path, request, null));
		} finally {
			leave();
		}
	}

	async whole(request: EncodeRequest): Promise<Uint8Array> {
		const path = await this.#program.path();
		return this.#places.run(request, () => this.#whole(path, request));
	}

	async #whole(path: string, request: EncodeRequest): Promise<Uint8Array> {
		// Encodes into a file, in which the program can correct the lengths in the header.
		const nowMs = Date.now();
		if (this.#isSweepDue(nowMs)) void removeLeftFolders(tmpdir(), FOLDER_PREFIX, nowMs);
		const folder = await mkdtemp(join(tmpdir(), FOLDER_PREFIX));
		const to = join(folder, "audio");
		try {
			const run = new FfmpegRun(path, request, to);
			try {
				run.output.resume();
				await run.end();
			} catch (fault) {
				throw await run.reason(fault);
			} finally {
				run.kill();
			}
			return await readFile(to);
		} finally {
			await rm(folder, { recursive: true, force: true });
		}
	}
}

async function* streamed(run: FfmpegRun): AsyncGenerator<Uint8Array, void> {
	try {
		for await (const chunk of run.output) yield chunk;
		await run.end();
	} catch (fault) {
		// The output ends where the input failed, and the input's error says more.
		throw await run.reason(fault);
	} finally {
		run.kill();
	}
}

/** One process: writes its input, keeps its last output lines, waits for its end. */
class FfmpegRun {
	readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
	readonly #signal: AbortSignal;
	readonly #closed: Promise<number | null>;
	readonly #unwatch: () => void;
	readonly #fed: Promise<void>;
	#words = "";
	/** The error of the input; null if it was complete. */
	#inputFault: { readonly fault: unknown } | null = null;

	constructor(path: string, request: EncodeRequest, to: string | null) {
		request.signal.throwIfAborted();
		this.#signal = request.signal;
		this.#child = spawn(path, ffmpegArguments(request, to), { env: childEnvironment(), stdio: ["pipe", "pipe", "pipe"] });
		this.#closed = new Promise((resolve) => {
			this.#child.once("close", (code) => resolve(code));
			this.#child.once("error", (fault) => {
				this.#words = fault.message;
				resolve(null);
			});
		});
		const { pid } = this.#child;
		this.#unwatch = pid === undefined ? () => {} : this.#bound(pid);
		this.#child.stderr.setEncoding("utf8");
		this.#child.stderr.on("data", (words: string) => {
			this.#words = (this.#words + words).slice(-MAX_WORDS_CHARS);
		});
		this.#signal.addEventListener("abort", this.kill, { once: true });
		this.#fed = this.#feed(request.input.bytes);
	}

	#bound(pid: number): () => void {
		const unbound = boundMemory(pid, MAX_MEMORY_BYTES);
		void this.#closed.then(unbound);
		return limitTree(pid, MAX_MEMORY_BYTES, () => {
			this.#words = `it has more than ${MAX_MEMORY_BYTES} bytes`;
			this.kill();
		});
	}

	get output(): Readable {
		return this.#child.stdout;
	}

	/**
	 * Waits until the program ends.
	 * @throws {ApiError} INFERENCE_FAILED if the program failed
	 */
	async end(): Promise<void> {
		const code = await this.#closed;
		await this.#fed;
		if (code !== 0 || this.#inputFault) throw this.#failure();
	}

	/** Returns the first cause of a failure. */
	async reason(fault: unknown): Promise<unknown> {
		this.kill();
		await this.#closed;
		await this.#fed;
		if (this.#signal.aborted) return this.#signal.reason;
		return this.#inputFault ? this.#inputFault.fault : fault;
	}

	readonly kill = (): void => {
		this.#unwatch();
		this.#signal.removeEventListener("abort", this.kill);
		if (this.#child.exitCode === null) this.#child.kill("SIGKILL");
	};

	async #feed(bytes: AsyncIterable<Uint8Array>): Promise<void> {
		const source = this.#watchInput(bytes);
		try {
			await pipeline(Readable.from(source, { objectMode: false }), this.#child.stdin);
		} catch {
			// A program that ends early closes its input; its exit code gives the reason.
		}
	}

	/** Distinguishes an error of the input from one of the program, and ends the program at the former. */
	async *#watchInput(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
		try {
			yield* bytes;
		} catch (fault) {
			this.#inputFault = { fault };
			this.kill();
			throw fault;
		}
	}

	#failure(): ApiError {
		const cause = new Error(`ffmpeg: ${this.#words.trim() || "ended without a word"}`);
		return new ApiError("INFERENCE_FAILED", { message: "The audio could not be encoded; try again", cause });
	}
}
