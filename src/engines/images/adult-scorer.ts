import { join } from "node:path";
import Value from "typebox/value";
import type { AssetStore } from "../../assets/index.ts";
import { ApiError } from "../../errors/index.ts";
import type { Requester } from "../../fairness/index.ts";
import type { Log } from "../../telemetry/log.ts";
import { AssetDownload } from "../asset-download.ts";
import { JobPool } from "../job-pool.ts";
import type { ScorerState } from "./port.ts";
import { ScoreDone, type ScoreJob, type ScoreStart, VIEW_BYTES } from "./score/child-work.ts";

/** Its name in the asset list and for `models pull`. */
export const ADULT_SCORER_ASSET = "open-nsfw.onnx";
const PULL_NAME = "open-nsfw";
const MAX_MEMORY_MB = 700;
/** Views of an image in one job; between jobs another image has its turn. */
const VIEWS_A_JOB = 8;

export interface AdultScorerOptions {
	readonly assets: AssetStore;
	readonly log: Log;
	/** Processor time of one job, which is `VIEWS_A_JOB` views. */
	readonly limitMs: number;
	/** The number of waiting images. */
	readonly maxWaiting: number;
	readonly idleStopMs: number;
}

interface Scores {
	readonly scores: readonly number[];
}

/** Scores how likely views of an image are adult content: open_nsfw, in its own process that decodes nothing. */
export class AdultScorer {
	readonly #download: AssetDownload;
	readonly #jobs: JobPool<Scores>;

	constructor({ assets, log, limitMs, maxWaiting, idleStopMs }: AdultScorerOptions) {
		this.#download = new AssetDownload({
			assets,
			names: [ADULT_SCORER_ASSET],
			need: "all",
			what: "The model that safe mode needs",
			pullName: PULL_NAME,
			log,
		});
		this.#jobs = new JobPool({
			name: "adult-score",
			log,
			entry: join(import.meta.dir, "score", "child.ts"),
			init: async (): Promise<ScoreStart> => ({ modelPath: assets.path(ADULT_SCORER_ASSET) }),
			parse: (done) => Value.Parse(ScoreDone, done),
			processes: 1,
			reserve: false,
			limitMs,
			maxMemoryMb: MAX_MEMORY_MB,
			maxWaiting,
			idleStopMs,
			faults: { tooSlow, tooHungry: failed, ended: failed, overflow: overloaded },
		});
	}

	async state(): Promise<ScorerState> {
		const missing = nativeRuntime() ?? (await this.#download.missing())?.text ?? null;
		return missing === null
			? { state: "ready", text: "The model that safe mode needs is there" }
			: { state: "offline", text: missing };
	}

	prefetch(): void {
		if (nativeRuntime() === null) this.#download.prefetch();
	}

	/**
	 * Scores views.
	 * @param views of `VIEW_BYTES`, one after the other
	 * @returns the highest score of them
	 * @throws {ApiError} MODEL_OFFLINE, MODEL_OVERLOADED, INFERENCE_FAILED, SERVICE_UNAVAILABLE
	 */
	async score(views: Uint8Array, requester: Requester): Promise<number> {
		await this.requireReady();
		let highest: number | null = null;
		for (let at = 0; at < views.length; at += VIEWS_A_JOB * VIEW_BYTES) {
			const job: Omit<ScoreJob, "id"> = { views: views.slice(at, at + VIEWS_A_JOB * VIEW_BYTES) };
			const { scores } = await this.#jobs.run(job, requester);
			highest = Math.max(highest ?? 0, ...scores);
		}
		if (highest === null) throw failed();
		return highest;
	}

	/**
	 * Throws unless the model is ready.
	 * @throws {ApiError} MODEL_OFFLINE
	 */
	async requireReady(): Promise<void> {
		const { state, text } = await this.state();
		if (state === "ready") return;
		this.prefetch();
		throw new ApiError("MODEL_OFFLINE", { message: text, retryAfterSeconds: 10 });
	}

	pids(): number[] {
		return this.#jobs.pids();
	}

	async stop(): Promise<void> {
		await Promise.all([this.#download.stop(), this.#jobs.stop()]);
	}
}

/** Returns why the model's runtime cannot run on this machine; null if it can. */
function nativeRuntime(): string | null {
	try {
		Bun.resolveSync("onnxruntime-node", import.meta.dir);
		return null;
	} catch {
		return "Safe mode needs the package onnxruntime-node: run npm install without --omit=optional";
	}
}

/** All inputs are pixels of one size, so a failure is never the image's fault. */
const failed = () => new ApiError("INFERENCE_FAILED", { message: "The adult-content score could not be computed; try again" });
const tooSlow = () =>
	new ApiError("REQUEST_TIMEOUT", { message: "The adult-content score takes too long on this server; send a smaller image" });
const overloaded = () =>
	new ApiError("MODEL_OVERLOADED", {
		message: "Too many images wait for their safe-mode score; try again shortly",
		retryAfterSeconds: 5,
	});
