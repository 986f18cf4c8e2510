import { join } from "node:path";
import type { AssetStore } from "../../assets/index.ts";
import { ApiError } from "../../errors/index.ts";
import type { Requester } from "../../fairness/index.ts";
import type { Log } from "../../telemetry/log.ts";
import { JobPool } from "../job-pool.ts";
import { AdultScorer } from "./adult-scorer.ts";
import { type ImageDone, type ImageWork, parseImageDone } from "./child-work.ts";
import { parsePrompt } from "./edit/parse-prompt.ts";
import { requireReadable } from "./pixel-limits.ts";
import {
	type Enlargement,
	type FinishOptions,
	type ImageEngine,
	ImageFault,
	type LocalEdit,
	MAX_EDIT_IMAGES,
	MIN_IMAGE_PIXELS,
	type OutputFormat,
	type Picture,
	type ScorerState,
} from "./port.ts";

/** Settings of glibc: freed blocks of pixels return to the system, and threads share the memory pools. */
const RETURN_MEMORY = { MALLOC_MMAP_THRESHOLD_: "262144", MALLOC_ARENA_MAX: "2" };

export interface EmbeddedImagesOptions {
	readonly log: Log;
	readonly assets: AssetStore;
	/** The number of concurrent images, each in its own process. Default 2. */
	readonly processes?: number;
	/** Processor time of one picture. Default 60 s. */
	readonly limitMs?: number;
	/** Resident memory of a process. Default 1024. */
	readonly maxMemoryMb?: number;
	/** The number of waiting images. Default 128. */
	readonly maxWaiting?: number;
	readonly idleStopMs?: number;
	/** The child's entry file. */
	readonly entry?: string;
}

/** Edits images in a few child processes, one at a time in each; another process scores adult content. */
export class EmbeddedImages implements ImageEngine {
	readonly #jobs: JobPool<ImageDone>;
	readonly #scorer: AdultScorer;

	constructor(options: EmbeddedImagesOptions) {
		const { log, assets, limitMs = 60_000, maxWaiting = 128, idleStopMs = 300_000 } = options;
		this.#jobs = new JobPool({
			name: "images",
			log,
			entry: options.entry ?? join(import.meta.dir, "child.ts"),
			env: RETURN_MEMORY,
			init: async () => null,
			parse: parseImageDone,
			processes: options.processes ?? 2,
			reserve: true,
			limitMs,
			maxMemoryMb: options.maxMemoryMb ?? 1_024,
			maxWaiting,
			idleStopMs,
			isRefusal: ({ fault }) => fault !== undefined,
			faults: { tooSlow, tooHungry, ended, overflow },
		});
		this.#scorer = new AdultScorer({ assets, log, limitMs, maxWaiting, idleStopMs });
	}

	async normalise(bytes: Uint8Array, requester: Requester, limits?: { readonly minPixels?: number }): Promise<Picture> {
		const minPixels = limits?.minPixels ?? MIN_IMAGE_PIXELS;
		requireReadable(bytes, minPixels);
		return this.#picture({ do: "normalise", bytes, minPixels }, requester);
	}

	async finish(bytes: Uint8Array, options: FinishOptions, requester: Requester): Promise<Picture> {
		return this.#picture({ do: "finish", bytes, options }, requester);
	}

	async score(bytes: Uint8Array, requester: Requester): Promise<number> {
		await this.#scorer.requireReady();
		const { views } = await this.#run({ do: "views", bytes }, requester);
		if (views === undefined) throw new Error("no views came");
		return this.#scorer.score(views, requester);
	}

	scorerState(): Promise<ScorerState> {
		return this.#scorer.state();
	}

	prefetch(): void {
		this.#scorer.prefetch();
	}

	async blur(bytes: Uint8Array, output: OutputFormat, requester: Requester): Promise<Picture> {
		return this.#picture({ do: "blur", bytes, output }, requester);
	}

	async localEdit({ prompt, images, output }: LocalEdit, requester: Requester): Promise<Picture> {
		const operations = parsePrompt(prompt);
		if (images.length < 1 || images.length > MAX_EDIT_IMAGES)
			throw new ImageFault("not-possible", `Local editing takes 1 to ${MAX_EDIT_IMAGES} images, not ${images.length}`);
		for (const [index, bytes] of images.entries()) requireReadableAt(bytes, index);
		return this.#picture({ do: "edit", images, operations, output }, requester);
	}

	async upscale(bytes: Uint8Array, to: Enlargement, output: OutputFormat, requester: Requester): Promise<Picture> {
		requireReadable(bytes, MIN_IMAGE_PIXELS);
		return this.#picture({ do: "upscale", bytes, to, output }, requester);
	}

	/** Returns the ids of the running processes. */
	pids(): number[] {
		return [...this.#jobs.pids(), ...this.#scorer.pids()];
	}

	async stop(): Promise<void> {
		await Promise.all([this.#jobs.stop(), this.#scorer.stop()]);
	}

	async #picture(work: ImageWork, requester: Requester): Promise<Picture> {
		const { picture } = await this.#run(work, requester);
		if (picture === undefined) throw new Error("no picture came");
		return picture;
	}

	/**
	 * Runs a job.
	 * @throws {ImageFault}, {ApiError}, the reason of the requester's signal
	 */
	async #run(work: ImageWork, requester: Requester): Promise<ImageDone> {
		const done = await this.#jobs.run(work, requester);
		if (done.fault !== undefined) throw new ImageFault(done.fault.kind, done.fault.message, done.fault.imageIndex);
		return done;
	}
}

function requireReadableAt(bytes: Uint8Array, index: number): void {
	try {
		requireReadable(bytes, MIN_IMAGE_PIXELS);
	} catch (fault) {
		throw fault instanceof ImageFault ? new ImageFault(fault.kind, fault.message, index) : fault;
	}
}

const tooSlow = (limitMs: number) =>
	new ApiError("REQUEST_TIMEOUT", {
		message: `The image takes more than ${limitMs / 1_000} s of processor time; send a smaller one`,
	});
const tooHungry = () => new ImageFault("too-costly", "The image takes more memory than one may; send a smaller one");
const ended = () => new ImageFault("too-costly", "The image could not be read: its reader ended in the middle of it");
const overflow = () =>
	new ApiError("MODEL_OVERLOADED", { message: "Too many images wait for their turn; try again shortly", retryAfterSeconds: 5 });
