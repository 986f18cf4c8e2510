/**
 * Downloads one asset from an address, and resumes by Range and If-Range (RFC 9110, 13.1.5 and 14.2), also in a later run of
 * the program. The bytes are not trusted here: the caller checks size and hash.
 */
import { createWriteStream } from "node:fs";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { AssetError, toAssetError } from "./errors.ts";

const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export interface DownloadOptions {
	readonly url: string;
	/** The file grows during the download; the bytes of an earlier run are used. */
	readonly partPath: string;
	readonly expectedBytes: number;
	readonly signal: AbortSignal;
	onBytes(receivedBytes: number): void;
	/** Maximum number of attempts without a single new byte. */
	readonly tries: number;
	/** Milliseconds without a byte that count as an interruption. */
	readonly silenceMs: number;
	/** Milliseconds before the second attempt; doubles with each attempt. */
	readonly retryDelayMs: number;
}

/** The data that a later run needs about the bytes on the disk. */
interface PartNote {
	readonly url: string;
	/** A strong ETag or a Last-Modified; "" if the server sent neither. */
	readonly validator: string;
}

/** A failure after which the same address may work. */
class Interrupted extends Error {
	override readonly name = "Interrupted";
}

const notePath = (partPath: string): string => `${partPath}.note`;

async function readNote(partPath: string): Promise<PartNote | null> {
	try {
		const note: unknown = JSON.parse(await readFile(notePath(partPath), "utf8"));
		if (typeof note !== "object" || note === null || !("url" in note) || !("validator" in note)) return null;
		return typeof note.url === "string" && typeof note.validator === "string"
			? { url: note.url, validator: note.validator }
			: null;
	} catch {
		return null;
	}
}

export async function discardPart(partPath: string): Promise<void> {
	await rm(partPath, { force: true });
	await rm(notePath(partPath), { force: true });
}

async function sizeOf(path: string): Promise<number> {
	return (await stat(path).catch(() => null))?.size ?? 0;
}

/** Follows at most five redirects, http(s) only, never from https to http. */
async function request(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
	let address = new URL(url);
	for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
		const response = await fetch(address.href, {
			headers: { ...headers, "accept-encoding": "identity" },
			redirect: "manual",
			signal,
			decompress: false,
			timeout: false,
		});
		if (!REDIRECTS.has(response.status)) return response;
		await response.body?.cancel();
		const location = response.headers.get("location");
		if (!location || !URL.canParse(location, address.href))
			throw new AssetError("unreachable", `${url}: a redirect without a usable address`);
		const next = new URL(location, address.href);
		if (next.protocol !== "https:" && (next.protocol !== "http:" || address.protocol === "https:"))
			throw new AssetError("unreachable", `${url}: redirected to ${next.protocol}`);
		address = next;
	}
	throw new AssetError("unreachable", `${url}: more than ${MAX_REDIRECTS} redirects`);
}

function validatorOf(response: Response): string {
	const etag = response.headers.get("etag") ?? "";
	// A weak tag does not promise equal bytes: RFC 9110, 8.8.3.
	return etag !== "" && !etag.startsWith("W/") ? etag : (response.headers.get("last-modified") ?? "");
}

/** Returns the offset of the answer's bytes in the file; null if they are useless. */
function startOffset(response: Response, have: number, expectedBytes: number): number | null {
	if (response.status === 200) return 0;
	const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(response.headers.get("content-range") ?? "");
	if (!range || Number(range[1]) !== have) return null;
	return range[2] === "*" || Number(range[2]) === expectedBytes ? have : null;
}

function refuseStatus(url: string, status: number): never {
	if (status === 429 || status >= 500) throw new Interrupted(`HTTP ${status}`);
	throw new AssetError("unreachable", `${url} answers HTTP ${status}`);
}

async function writeBody(body: ReadableStream<Uint8Array>, offset: number, options: DownloadOptions, alive: () => void) {
	const out = createWriteStream(options.partPath, offset === 0 ? { flags: "w" } : { flags: "r+", start: offset });
	const failed = new Promise<never>((_, reject) => out.once("error", reject));
	failed.catch(() => {});
	let received = offset;
	try {
		for await (const chunk of body) {
			alive();
			received += chunk.length;
			if (received > options.expectedBytes)
				throw new AssetError("wrong-size", `${options.url} sends more than the expected ${options.expectedBytes} bytes`);
			if (!out.write(chunk)) await Promise.race([new Promise((resolve) => out.once("drain", resolve)), failed]);
			options.onBytes(received);
		}
	} finally {
		// Closes the file in every case, so that the next attempt has the bytes before the interruption.
		await Promise.race([new Promise<void>((resolve) => out.end(resolve)), failed]).catch((fault) => {
			throw toAssetError(fault, "not-readable", options.partPath);
		});
	}
	if (received < options.expectedBytes) throw new Interrupted(`ended after ${received} of ${options.expectedBytes} bytes`);
}

async function attempt(options: DownloadOptions): Promise<void> {
	const { url, partPath, expectedBytes } = options;
	const note = await readNote(partPath);
	if (note?.url !== url) await discardPart(partPath);
	const have = await sizeOf(partPath);
	if (have === expectedBytes) return;
	if (have > expectedBytes) await discardPart(partPath);
	const resume = have > 0 && have < expectedBytes;
	const headers: Record<string, string> = {};
	if (resume) {
		headers.range = `bytes=${have}-`;
		if (note?.validator) headers["if-range"] = note.validator;
	}

	const silence = new AbortController();
	let timer = setTimeout(() => silence.abort(), options.silenceMs);
	const alive = () => {
		clearTimeout(timer);
		timer = setTimeout(() => silence.abort(), options.silenceMs);
	};
	try {
		const response = await request(url, headers, AbortSignal.any([options.signal, silence.signal]));
		const body = response.body;
		const offset = response.status === 200 || response.status === 206 ? startOffset(response, have, expectedBytes) : null;
		if (offset === null || body === null) {
			await body?.cancel();
			// The bytes on the disk do not match the server's file, so the download restarts.
			if (response.status === 206 || response.status === 416) {
				await discardPart(partPath);
				throw new Interrupted("the part that is there does not fit");
			}
			return refuseStatus(url, response.status);
		}
		const declared = Number(response.headers.get("content-length") ?? Number.NaN);
		if (!Number.isNaN(declared) && offset + declared !== expectedBytes) {
			await body.cancel();
			throw new AssetError("wrong-size", `${url} has ${offset + declared} bytes, not ${expectedBytes}`);
		}
		await writeFile(notePath(partPath), JSON.stringify({ url, validator: validatorOf(response) } satisfies PartNote));
		await writeBody(body, offset, options, alive);
	} catch (fault) {
		options.signal.throwIfAborted();
		if (fault instanceof AssetError || fault instanceof Interrupted) throw fault;
		if (silence.signal.aborted) throw new Interrupted(`silent for ${options.silenceMs} ms`);
		const asset = toAssetError(fault, "unreachable", url);
		if (asset.code === "disk-full") throw asset;
		throw new Interrupted(asset.message);
	} finally {
		clearTimeout(timer);
	}
}

/**
 * Fills `partPath` with `expectedBytes` bytes of the address.
 * @throws {AssetError} `unreachable`, `wrong-size`, `disk-full`; the reason of `signal`
 */
export async function downloadUrl(options: DownloadOptions): Promise<void> {
	let fruitless = 0;
	for (;;) {
		const before = await sizeOf(options.partPath);
		try {
			await attempt(options);
			return;
		} catch (fault) {
			if (!(fault instanceof Interrupted)) throw fault;
			fruitless = (await sizeOf(options.partPath)) > before ? 1 : fruitless + 1;
			if (fruitless >= options.tries)
				throw new AssetError("unreachable", `${options.url}: ${fault.message} (${fruitless} tries)`, fault);
			await sleep(Math.min(options.retryDelayMs * 2 ** (fruitless - 1), 30_000), undefined, { signal: options.signal });
		}
	}
}
