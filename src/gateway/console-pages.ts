import { preferredEncoding } from "../server/index.ts";
import type { Log } from "../telemetry/log.ts";
import type { BuiltFile } from "./console-build.ts";

/** Maps a path below the built application's folder, with forward slashes, to its file. */
export type BuiltFiles = ReadonlyMap<string, BuiltFile>;

export interface ConsolePagesOptions {
	/** Returns the built application, and builds it first if necessary. */
	readonly build: () => Promise<BuiltFiles>;
	readonly log: Log;
	readonly monotonicMs: () => number;
}

/** The wait after a failed build before the next one. */
const RETRY_MS = 30_000;
const INDEX = "index.html";
const FOREVER = "public, max-age=31536000, immutable";

/** Serves the pages of the console. The first visit builds them; until the build ends, a waiting page is shown. */
export class ConsolePages {
	readonly #options: ConsolePagesOptions;
	#files: BuiltFiles | null = null;
	#building: Promise<void> | null = null;
	#failure: { readonly message: string; readonly atMs: number } | null = null;

	constructor(options: ConsolePagesOptions) {
		this.#options = options;
	}

	/** `path` is below /console: empty, or with a leading slash. */
	async answer(path: string, request: Request): Promise<Response> {
		if (this.#files === null) await Promise.race([this.#build(), Bun.sleep(ALREADY_BUILT_MS)]);
		if (this.#files === null) return this.#waiting();
		const name = path.replace(/^\//, "");
		const file = this.#files.get(name);
		if (file !== undefined && name !== INDEX) return fileAnswer(file, name.startsWith("assets/") ? FOREVER : "no-cache", request);
		const index = this.#files.get(INDEX);
		// A missing asset is 404; any other path is a page of the application itself.
		if (index === undefined || name.startsWith("assets/")) return notFound();
		return fileAnswer(index, "no-cache", request);
	}

	#build(): Promise<void> {
		const { build, log, monotonicMs } = this.#options;
		if (this.#failure !== null && monotonicMs() - this.#failure.atMs < RETRY_MS) return Promise.resolve();
		this.#building ??= build()
			.then((files) => {
				this.#files = files;
				this.#failure = null;
			})
			.catch((error: unknown) => {
				const message = error instanceof Error ? error.message : String(error);
				this.#failure = { message, atMs: monotonicMs() };
				log.error({ cause: message }, "the console's pages could not be built");
			})
			.finally(() => {
				this.#building = null;
			});
		return this.#building;
	}

	#waiting(): Response {
		const text =
			this.#failure === null
				? "The console is being built. This happens once, and takes some seconds."
				: "The console's pages could not be built; the server's log says why. Everything else works.";
		const seconds = this.#failure === null ? 1 : RETRY_MS / 1_000;
		const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><meta name="viewport" content="width=device-width, initial-scale=1"><meta http-equiv="refresh" content="${seconds}"><title>Turnpike console</title></head><body><main><h1>Turnpike</h1><p role="status">${text}</p></main></body></html>`;
		return new Response(html, {
			status: 503,
			headers: { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "Retry-After": String(seconds) },
		});
	}
}

/** Files that are already built are read within this time, so that no waiting page appears. */
const ALREADY_BUILT_MS = 500;

function fileAnswer(file: BuiltFile, cacheControl: string, request: Request): Response {
	const headers: Record<string, string> = {
		"Content-Type": file.type,
		"Cache-Control": cacheControl,
		ETag: file.etag,
		Vary: "Accept-Encoding",
	};
	if (request.headers.get("if-none-match") === file.etag) return new Response(null, { status: 304, headers });
	const encoding = preferredEncoding(request.headers.get("accept-encoding"));
	const packed = encoding === null ? null : file.packed[encoding];
	if (packed !== null && encoding !== null) headers["Content-Encoding"] = encoding;
	return new Response((packed ?? file.bytes) as Uint8Array<ArrayBuffer>, { headers });
}

function notFound(): Response {
	return new Response("Not found\n", { status: 404, headers: { "Content-Type": "text/plain", "Cache-Control": "no-store" } });
}
