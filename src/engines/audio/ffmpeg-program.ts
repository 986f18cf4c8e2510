import { spawn } from "node:child_process";
import { chmod } from "node:fs/promises";
import type { AssetStore } from "../../assets/index.ts";
import { ApiError } from "../../errors/index.ts";
import type { Log } from "../../telemetry/log.ts";
import { AssetDownload } from "../asset-download.ts";
import { childEnvironment } from "../process.ts";
import { killAtLimit } from "../process-tree.ts";
import type { AudioEncoderState } from "./port.ts";

/** Encoders that a format needs and that some builds lack. */
const NEEDED_ENCODERS = ["libmp3lame", "libopus", "aac", "flac"];
const PROBE_LIMIT_MS = 30_000;
export const ASSET_GROUP = "ffmpeg";

export interface FfmpegProgramOptions {
	readonly assets: AssetStore;
	readonly log: Log;
	/** Path of the system's own program, null if there is none. Default: looked up on the PATH. */
	readonly systemPath?: string | null;
}

/** Locates ffmpeg: the system's if it has all encoders, otherwise a downloaded one. */
export class FfmpegProgram {
	readonly #assets: AssetStore;
	readonly #names: readonly string[];
	readonly #download: AssetDownload;
	readonly #systemPath: string | null;
	readonly #log: Log;
	#system: Promise<string | null> | null = null;
	#fetched: string | null = null;

	constructor({ assets, log, systemPath = Bun.which("ffmpeg") }: FfmpegProgramOptions) {
		this.#assets = assets;
		this.#names = assets.names().filter((name) => assets.describe(name).group === ASSET_GROUP);
		this.#systemPath = systemPath;
		this.#log = log;
		this.#download = new AssetDownload({
			assets,
			names: this.#names,
			need: "any",
			what: "The audio encoder",
			pullName: ASSET_GROUP,
			log,
		});
	}

	async state(): Promise<AudioEncoderState> {
		const system = await this.#usableSystem();
		if (system !== null) return { state: "ready", text: `The audio encoder is ${system}` };
		const missing = await this.#download.missing();
		return missing ? { state: "offline", text: missing.text } : { state: "ready", text: "The audio encoder is there" };
	}

	/** Starts the download if the system has no program, without waiting for it. */
	prefetch(): void {
		void this.#usableSystem().then(async (system) => {
			if (system === null && (await this.#download.missing()) !== null) this.#download.prefetch();
		});
	}

	/**
	 * Returns the program's path.
	 * @throws {ApiError} MODEL_OFFLINE, with the download's progress in its text
	 */
	async path(): Promise<string> {
		const system = await this.#usableSystem();
		if (system !== null) return system;
		if (this.#fetched !== null) return this.#fetched;
		const missing = await this.#download.missing();
		if (missing) {
			this.#download.prefetch();
			throw new ApiError("MODEL_OFFLINE", { message: missing.text, retryAfterSeconds: 10, cause: missing.cause });
		}
		for (const name of this.#names) {
			if ((await this.#assets.status(name)).state !== "ready") continue;
			const path = this.#assets.path(name);
			await chmod(path, 0o755);
			this.#fetched = path;
			return path;
		}
		throw new ApiError("MODEL_OFFLINE", { retryAfterSeconds: 10 });
	}

	/** Aborts any download, for good. */
	stop(): Promise<void> {
		return this.#download.stop();
	}

	#usableSystem(): Promise<string | null> {
		this.#system ??= this.#lookAtSystem();
		return this.#system;
	}

	async #lookAtSystem(): Promise<string | null> {
		const path = this.#systemPath;
		if (path === null) return null;
		const encoders = await encodersOf(path);
		const lacking = NEEDED_ENCODERS.filter((name) => !new RegExp(`^\\s*A\\S*\\s+${name}\\s`, "m").test(encoders));
		if (lacking.length === 0) return path;
		this.#log.warn({ path, lacking }, "the system's ffmpeg lacks encoders: another one is fetched");
		return null;
	}
}

/** Returns the program's list of encoders, "" if it does not run. */
function encodersOf(path: string): Promise<string> {
	return new Promise((resolve) => {
		const child = spawn(path, ["-hide_banner", "-encoders"], {
			env: childEnvironment(),
			stdio: ["ignore", "pipe", "ignore"],
		});
		const unwatch = killAtLimit(child, PROBE_LIMIT_MS);
		const end = (words: string) => {
			unwatch();
			resolve(words);
		};
		let text = "";
		child.stdout.setEncoding("utf8");
		child.stdout.on("data", (chunk: string) => {
			if (text.length < 100_000) text += chunk;
		});
		child.once("error", () => end(""));
		child.once("close", () => end(text));
	});
}
