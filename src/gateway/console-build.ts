/**
 * Builds the console's pages for browsers. A child process builds them from `console/` once for each state of the sources; an
 * image may ship them built (`console/dist`). The built files are then cached: some megabytes, and only if somebody opens the
 * console.
 */
import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Log } from "../telemetry/log.ts";

export interface BuiltFile {
	readonly type: string;
	readonly etag: string;
	readonly bytes: Uint8Array;
	/** null if compression does not make the file smaller. */
	readonly packed: { readonly br: Uint8Array | null; readonly gzip: Uint8Array | null };
}

export interface ConsoleBuildOptions {
	/** The pages are built here if the program's own folder is not writable. */
	readonly dataDir: string;
	readonly log: Log;
}

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SOURCES = join(ROOT, "console");
const ENTRY = fileURLToPath(new URL("./console-build-child.ts", import.meta.url));
const DIST = "dist";
/** Holds the hash of the sources. It is written last, so an interrupted build is not used. */
const STAMP = "built-from";
const BUILD_MS = 120_000;
/** How much of the end of a failed build's output is logged. */
const LOGGED_CHARACTERS = 600;

const TYPES: Readonly<Record<string, string>> = {
	html: "text/html; charset=utf-8",
	js: "text/javascript; charset=utf-8",
	css: "text/css; charset=utf-8",
	json: "application/json",
	svg: "image/svg+xml",
	png: "image/png",
	ico: "image/x-icon",
	woff2: "font/woff2",
	txt: "text/plain; charset=utf-8",
};

/**
 * Returns the built pages by name.
 * @throws {Error} with the reason if the build fails
 */
export async function builtConsole({ dataDir, log }: ConsoleBuildOptions): Promise<ReadonlyMap<string, BuiltFile>> {
	const places = [SOURCES, join(dataDir, "console")];
	const stamp = await stampOf(SOURCES);
	for (const place of places) {
		const built = join(place, DIST);
		const builtStamp = await readFile(join(built, STAMP), "utf8").catch(() => null);
		if (builtStamp !== null && (stamp === null || builtStamp === stamp)) return load(built);
	}
	if (stamp === null) throw new Error(`there is no application in ${SOURCES}`);
	const startMs = performance.now();
	const place = await firstWritable(places);
	const buildDir = join(place, `.build-${randomUUID()}`);
	try {
		await runBuild(buildDir);
		await writeFile(join(buildDir, STAMP), stamp);
		const files = await load(buildDir);
		await publish(buildDir, join(place, DIST));
		log.info({ files: files.size, tookMs: Math.round(performance.now() - startMs) }, "the console's pages were built");
		return files;
	} finally {
		await rm(buildDir, { recursive: true, force: true });
	}
}

/** Returns a hash of all sources of the pages; null if the sources are not on this machine. */
async function stampOf(sources: string): Promise<string | null> {
	const names = await filesBelow(sources).catch(() => []);
	const sourceNames = names.filter((name) => !name.startsWith(DIST) && !name.startsWith("."));
	if (!sourceNames.includes("index.html")) return null;
	const hash = createHash("sha256");
	const sourcePaths = [
		...sourceNames.map((name) => join(sources, name)),
		join(ROOT, "src/routes/console/types.ts"),
		join(ROOT, "package.json"),
	];
	for (const path of sourcePaths.sort()) {
		const bytes = await readFile(path).catch(() => Buffer.alloc(0));
		hash.update(`${relative(ROOT, path)} ${bytes.length}\n`).update(bytes);
	}
	return hash.digest("hex");
}

async function runBuild(outDir: string): Promise<void> {
	const { PATH = "", HOME = "", TMPDIR, SystemRoot } = process.env;
	const child = Bun.spawn({
		cmd: [process.execPath, ENTRY, SOURCES, outDir],
		cwd: ROOT,
		env: { PATH, HOME, NODE_ENV: "production", ...(TMPDIR ? { TMPDIR } : {}), ...(SystemRoot ? { SystemRoot } : {}) },
		stdin: "ignore",
		stdout: "ignore",
		stderr: "pipe",
		timeout: BUILD_MS,
		killSignal: "SIGKILL",
	});
	const [output, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
	if (code !== 0) throw new Error(`the build ended with ${child.signalCode ?? code}: ${output.trim().slice(-LOGGED_CHARACTERS)}`);
}

/** Moves a build to its final place. If another process does so at the same time, one of the two builds stays. */
async function publish(buildDir: string, dist: string): Promise<void> {
	const oldDir = `${buildDir}-old`;
	await rename(dist, oldDir).catch(() => {});
	await rename(buildDir, dist).catch(() => {});
	await rm(oldDir, { recursive: true, force: true });
}

async function firstWritable(places: readonly string[]): Promise<string> {
	let fault: unknown;
	for (const place of places) {
		const probe = join(place, `.probe-${randomUUID()}`);
		try {
			await mkdir(probe, { recursive: true });
			await rm(probe, { recursive: true });
			return place;
		} catch (error) {
			fault = error;
		}
	}
	throw fault;
}

async function filesBelow(folder: string): Promise<string[]> {
	const entries = await readdir(folder, { recursive: true, withFileTypes: true });
	const files = entries.filter((entry) => entry.isFile());
	return files.map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"));
}

async function load(folder: string): Promise<ReadonlyMap<string, BuiltFile>> {
	const names = await filesBelow(folder);
	const known = new Set(names);
	const packed = async (name: string) => (known.has(name) ? new Uint8Array(await readFile(join(folder, name))) : null);
	const files = new Map<string, BuiltFile>();
	for (const name of names) {
		const type = TYPES[name.slice(name.lastIndexOf(".") + 1)];
		if (type === undefined) continue;
		const bytes = new Uint8Array(await readFile(join(folder, name)));
		const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
		files.set(name, { type, etag, bytes, packed: { br: await packed(`${name}.br`), gzip: await packed(`${name}.gz`) } });
	}
	if (!files.has("index.html")) throw new Error(`there is no index.html in ${folder}`);
	return files;
}
