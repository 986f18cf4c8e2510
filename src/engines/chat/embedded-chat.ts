import { randomBytes } from "node:crypto";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { AssetError, type AssetStore, type EnsureOptions } from "../../assets/index.ts";
import type { Config } from "../../config/schema.ts";
import { ApiError } from "../../errors/index.ts";
import type { Log } from "../../telemetry/log.ts";
import { AssetDownload } from "../asset-download.ts";
import { EngineError } from "../engine-error.ts";
import { EngineProcess } from "../process.ts";
import { type ChildInit, type ChildReady, parseChildReady } from "./child-init.ts";

/** The embedded model's weights, and the model's name at its server. */
export const EMBEDDED_CHAT_ASSET = "smollm2-135m-instruct-q4_1.gguf";
export const EMBEDDED_CHAT_MODEL = "smollm2-135m-instruct";
/** The limit of a request without its own; answers are usually shorter. */
const DEFAULT_MAX_TOKENS = 512;

const WAY_OUT =
	"Meanwhile name another model of GET /api/v1/models; models.traits.text.default in turnpike.yaml gives the name default to one for good";

export type EmbeddedChatState =
	| { readonly state: "ready"; readonly text: string }
	/** The text gives the reason and the progress; callers may see it. */
	| { readonly state: "offline"; readonly text: string };

export interface EmbeddedChatOptions {
	readonly config: Config["chat"]["embedded"];
	readonly assets: AssetStore;
	readonly log: Log;
}

export interface Endpoint {
	/** Base address, up to and including `/v1`. */
	readonly url: string;
	/** Bearer secret of the running child; it changes with each start. */
	readonly key: string;
}

/** Returns fewer threads than cores: threads that wait for each other spin, and the gateway needs a core, too. */
function defaultThreads(): number {
	return Math.max(1, Math.min(8, availableParallelism() - 1));
}

/** The model of a fresh machine. The gateway calls `endpoint` before each request, and then calls the child by HTTP. */
export class EmbeddedChat {
	readonly #config: Config["chat"]["embedded"];
	readonly #assets: AssetStore;
	readonly #log: Log;
	readonly #process: EngineProcess<ChildReady>;
	readonly #download: AssetDownload;
	#secret = "";
	/**
	 * Private key of sealed conversations. It lives as long as this process: it survives restarts of the engine, and is never
	 * written to disk. Its range leaves out one of 2^128 values.
	 */
	readonly #sealingKey = randomBytes(32).toString("hex");

	constructor({ config, assets, log }: EmbeddedChatOptions) {
		this.#config = config;
		this.#assets = assets;
		this.#log = log;
		this.#download = new AssetDownload({
			assets,
			names: [EMBEDDED_CHAT_ASSET],
			need: "all",
			what: "The embedded model",
			pullName: EMBEDDED_CHAT_ASSET,
			log,
		});
		this.#process = new EngineProcess({
			name: "chat",
			entry: join(import.meta.dir, "child.ts"),
			init: async () => this.#childInit(),
			parseReady: parseChildReady,
			log,
			startLimitMs: 120_000,
			maxMemoryMb: config.maxMemoryMb,
			idleStopMs: config.idleStopMs,
		});
	}

	/** Returns whether a request would be answered now, and otherwise the reason. */
	async state(): Promise<EmbeddedChatState> {
		const missing = await this.#download.missing();
		if (missing) return { state: "offline", text: missing.text };
		if (this.#process.state === "backing-off")
			return { state: "offline", text: "The embedded model failed and starts again shortly" };
		return { state: "ready", text: "The embedded model is ready" };
	}

	/**
	 * Starts the download if it is needed, without waiting for it. A failure appears in `state` and in the log. Called when the
	 * server listens, and by each request that comes too early.
	 */
	prefetch(onProgress?: EnsureOptions["onProgress"]): void {
		this.#download.prefetch(onProgress);
	}

	/**
	 * Returns the engine's address, and starts it if it does not run.
	 * @throws {ApiError} MODEL_OFFLINE, with the download's progress in its text; MODEL_AT_CAPACITY after a crash
	 */
	async endpoint(): Promise<Endpoint> {
		const missing = await this.#download.missing();
		if (missing) {
			this.prefetch();
			const message = `${missing.text}. ${WAY_OUT}`;
			throw new ApiError("MODEL_OFFLINE", { message, retryAfterSeconds: 10, cause: missing.cause });
		}
		try {
			const { port } = await this.#process.start();
			return { url: `http://127.0.0.1:${port}/v1`, key: this.#secret };
		} catch (fault) {
			if (!(fault instanceof EngineError || fault instanceof AssetError)) throw fault;
			this.#log.error({ err: fault }, "the embedded model does not start");
			const retryAfterSeconds = fault instanceof EngineError ? (fault.retryAfterSeconds ?? 5) : 5;
			throw new ApiError("MODEL_OFFLINE", {
				message: "The embedded model could not be started; try again shortly",
				retryAfterSeconds,
				cause: fault,
			});
		}
	}

	/** Returns the engine's resident memory in bytes; null if it does not run. */
	rssBytes(): Promise<number | null> {
		return this.#process.rssBytes();
	}

	get pid(): number | null {
		return this.#process.pid;
	}

	/** Stops the engine and any download, for good. */
	async stop(): Promise<void> {
		await this.#download.stop();
		await this.#process.close();
	}

	/** Creates a new secret for each start. */
	#childInit(): ChildInit {
		this.#secret = randomBytes(32).toString("hex");
		const { contextTokens, parallel, queue, threads = defaultThreads() } = this.#config;
		return {
			modelPath: this.#assets.path(EMBEDDED_CHAT_ASSET),
			modelId: EMBEDDED_CHAT_MODEL,
			secret: this.#secret,
			sealingKey: this.#sealingKey,
			threads,
			contextTokens,
			parallel,
			queue,
			defaultMaxTokens: DEFAULT_MAX_TOKENS,
		};
	}
}
