import { availableParallelism } from "node:os";
import { join } from "node:path";
import Value from "typebox/value";
import type { AssetStore } from "../../assets/index.ts";
import type { Config } from "../../config/schema.ts";
import { ApiError } from "../../errors/index.ts";
import { PartyCapacity, type Requester } from "../../fairness/index.ts";
import type { Log } from "../../telemetry/log.ts";
import { AssetDownload } from "../asset-download.ts";
import { JobPool } from "../job-pool.ts";
import { type NativeEngine, onnxEngine } from "../native-packages.ts";
import { type ChildStart, EmbedDone, type EmbedJob } from "./child-work.ts";
import type { Embedded, EmbeddingEngine } from "./port.ts";

/** Weights and vocabulary, by their names in the asset list. */
export const EMBEDDED_EMBEDDING_ASSETS = {
	model: "all-minilm-l6-v2-q.onnx",
	tokenizer: "all-minilm-l6-v2-tokenizer.json",
} as const;
/** The catalog's name of the model; `models pull` accepts it, too. */
export const EMBEDDED_EMBEDDING_MODEL = "all-minilm-l6-v2";

/** The number of a request's texts in one job; between jobs other requests have their turn. */
const TEXTS_A_JOB = 16;
/** UTF-16 units. A longer text has too many tokens, unless it has no words. */
const MOST_CHARS = 65_536;
/** Processor time of one job. */
const LIMIT_MS = 60_000;

export interface EmbeddedEmbeddingsOptions {
	readonly config: Config["embeddings"]["embedded"];
	readonly assets: AssetStore;
	readonly log: Log;
}

/** Returns whether the embedding engine's packages are installed. */
export function nativeEmbeddingEngine(): NativeEngine {
	return onnxEngine("embedding engine", ["@huggingface/tokenizers"]);
}

/** The embeddings of a fresh machine: all-MiniLM-L6-v2 in a child process, one text at a time. */
export class EmbeddedEmbeddings implements EmbeddingEngine {
	readonly #download: AssetDownload;
	readonly #jobs: JobPool<EmbedDone>;
	/** Requests in progress: one that is processed, and those that wait. */
	readonly #places: PartyCapacity;

	constructor({ config, assets, log }: EmbeddedEmbeddingsOptions) {
		this.#places = new PartyCapacity(config.queue + 1);
		this.#download = new AssetDownload({
			assets,
			names: Object.values(EMBEDDED_EMBEDDING_ASSETS),
			need: "all",
			what: "The embedded embedding model",
			pullName: EMBEDDED_EMBEDDING_MODEL,
			log,
		});
		const start: ChildStart = {
			modelPath: assets.path(EMBEDDED_EMBEDDING_ASSETS.model),
			tokenizerPath: assets.path(EMBEDDED_EMBEDDING_ASSETS.tokenizer),
			threads: config.threads ?? Math.max(1, Math.min(4, availableParallelism() - 1)),
		};
		this.#jobs = new JobPool({
			name: "embeddings",
			log,
			entry: join(import.meta.dir, "child.ts"),
			init: async () => start,
			parse: (done) => Value.Parse(EmbedDone, done),
			processes: 1,
			reserve: false,
			limitMs: LIMIT_MS,
			maxMemoryMb: config.maxMemoryMb,
			maxWaiting: config.queue + 1,
			idleStopMs: config.idleStopMs,
			faults: { tooSlow, tooHungry: embeddingError, ended: embeddingError, overflow: () => this.#overloaded() },
		});
	}

	prefetch(): void {
		if (nativeEmbeddingEngine().ok) this.#download.prefetch();
	}

	/** Returns why it cannot work now; null if it can. */
	async missing(): Promise<string | null> {
		const native = nativeEmbeddingEngine();
		if (!native.ok) return `The embedded embedding model cannot run here: ${native.reason}`;
		return (await this.#download.missing())?.text ?? null;
	}

	async embed(texts: readonly string[], requester: Requester): Promise<Embedded> {
		const missing = await this.missing();
		if (missing !== null) {
			this.prefetch();
			throw new ApiError("MODEL_OFFLINE", { message: missing, retryAfterSeconds: 10 });
		}
		const long = texts.findIndex(({ length }) => length > MOST_CHARS);
		if (long >= 0) throw tooLong(texts, long, null);
		if (this.#places.take(requester.tenant, 1) !== "taken") throw this.#overloaded();
		try {
			const vectors: Float32Array[] = [];
			let tokens = 0;
			for (let from = 0; from < texts.length; from += TEXTS_A_JOB) {
				const job: Omit<EmbedJob, "id"> = { texts: texts.slice(from, from + TEXTS_A_JOB) };
				const done = await this.#jobs.run(job, requester);
				if (done.tooLong !== undefined) throw tooLong(texts, from + done.tooLong.index, done.tooLong.tokens);
				if (done.vectors === undefined) throw embeddingError();
				vectors.push(...split(done.vectors, job.texts.length));
				tokens += done.tokens ?? 0;
			}
			return { vectors, tokens };
		} finally {
			this.#places.giveBack(requester.tenant, 1);
		}
	}

	/** Returns the ids of the running processes. */
	pids(): number[] {
		return this.#jobs.pids();
	}

	async stop(): Promise<void> {
		await this.#download.stop();
		await this.#jobs.stop();
	}

	#overloaded(): ApiError {
		return new ApiError("MODEL_OVERLOADED", {
			message: "The embedded embedding model is busy and many requests wait; try again shortly",
			retryAfterSeconds: Math.min(60, 2 + this.#places.used),
		});
	}
}

function split(bytes: Uint8Array, count: number): Float32Array[] {
	const all = new Float32Array(bytes.slice().buffer);
	const size = all.length / count;
	return Array.from({ length: count }, (_, index) => all.subarray(index * size, (index + 1) * size));
}

function embeddingError(): ApiError {
	return new ApiError("INFERENCE_FAILED", { message: "The embedding engine failed; try again" });
}

const tooSlow = () =>
	new ApiError("REQUEST_TIMEOUT", { message: "The input takes too long on this server; send fewer or shorter texts" });

/** Returns the error for a text that is too long. `tokens` is null if they were not counted. */
function tooLong(texts: readonly string[], index: number, tokens: number | null): ApiError {
	const where = texts.length === 1 ? "The input" : `input[${index}]`;
	const message = `${where} has ${tokens ?? "far too many"} tokens; the model reads at most 512. Send it in parts`;
	return new ApiError("TOO_MANY_TOKENS", { message, param: "input" });
}
