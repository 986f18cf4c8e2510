/** Runs a registry's client as a child process with bounded output, and kills it when it makes no progress. */
import { type ChildProcess, spawn } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { AssetError } from "./errors.ts";

const MAX_OUTPUT_CHARS = 8_000;
const POLL_MS = 500;
/** pip, npm and mvn report a full disk in the system's own words. */
const NO_SPACE = /no space left on device|ENOSPC|not enough space on the disk/i;

export interface ProgramRun {
	readonly command: readonly string[];
	/** The program writes all files here, including temporary ones: the growth is the progress. */
	readonly workDir: string;
	readonly signal: AbortSignal;
	/** Milliseconds without output and without growth of `workDir` after which the program is killed. */
	readonly silenceMs: number;
	onBytes?(bytesInWorkDir: number): void;
}

/** Returns the bytes of all files below a folder. Files may come and go meanwhile. */
export async function folderBytes(folder: string): Promise<number> {
	const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
	let total = 0;
	for (const entry of entries)
		if (entry.isFile()) total += (await stat(join(entry.parentPath, entry.name)).catch(() => null))?.size ?? 0;
	return total;
}

/** Returns the client's environment: everything but our own settings, which may be secret. */
function clientEnvironment(workDir: string): NodeJS.ProcessEnv {
	const own = Object.entries(process.env).filter(([name]) => !name.startsWith("TURNPIKE_"));
	return { ...Object.fromEntries(own), TMPDIR: workDir, TEMP: workDir, TMP: workDir };
}

/** Kills the program and all processes that it started. */
function killTree(child: ChildProcess): void {
	if (child.pid === undefined) return;
	try {
		if (process.platform === "win32") child.kill("SIGKILL");
		else process.kill(-child.pid, "SIGKILL");
	} catch {
		// It has already ended.
	}
}

function watchForSilence(run: ProgramRun, child: ChildProcess): { moved(): void; stop(): void; silent(): boolean } {
	let lastMove = performance.now();
	let lastBytes = 0;
	let silent = false;
	let measuring = false;
	const timer = setInterval(
		async () => {
			if (measuring) return;
			measuring = true;
			const bytes = await folderBytes(run.workDir);
			measuring = false;
			if (bytes !== lastBytes) {
				lastBytes = bytes;
				lastMove = performance.now();
				run.onBytes?.(bytes);
			}
			if (performance.now() - lastMove < run.silenceMs) return;
			silent = true;
			killTree(child);
		},
		Math.min(POLL_MS, run.silenceMs),
	);
	return {
		moved: () => {
			lastMove = performance.now();
		},
		stop: () => clearInterval(timer),
		silent: () => silent,
	};
}

/**
 * Runs a program to its end.
 * @returns its standard output, the last 8,000 characters
 * @throws {AssetError} `client-missing` (no such program), `client-failed` (with the end of its output); the signal's reason
 */
export async function runProgram(run: ProgramRun): Promise<string> {
	run.signal.throwIfAborted();
	const [program = "", ...args] = run.command;
	const child = spawn(program, args, {
		cwd: run.workDir,
		env: clientEnvironment(run.workDir),
		stdio: ["ignore", "pipe", "pipe"],
		// A process group of its own, so that the whole tree can be killed.
		detached: process.platform !== "win32",
		// npm and mvn are command scripts on Windows.
		shell: process.platform === "win32",
	});
	const watch = watchForSilence(run, child);
	const output = { stdout: "", stderr: "" };
	for (const name of ["stdout", "stderr"] as const)
		child[name]?.setEncoding("utf8").on("data", (text: string) => {
			watch.moved();
			output[name] = (output[name] + text).slice(-MAX_OUTPUT_CHARS);
		});
	const onAbort = () => killTree(child);
	run.signal.addEventListener("abort", onAbort, { once: true });
	try {
		const code = await new Promise<number | null>((resolve, reject) => {
			child.once("error", reject);
			child.once("close", resolve);
		});
		run.signal.throwIfAborted();
		if (watch.silent())
			throw new AssetError("client-failed", `${program} did nothing for ${run.silenceMs / 1000} s and was stopped`);
		if (code === 0) return output.stdout;
		const lastWords = (output.stderr.trim() || output.stdout.trim()).split("\n").slice(-3).join(" ").slice(-400);
		const fault = NO_SPACE.test(lastWords) ? "disk-full" : "client-failed";
		throw new AssetError(fault, `${program} ended with code ${code}: ${lastWords}`);
	} catch (fault) {
		if (fault instanceof Error && "code" in fault && fault.code === "ENOENT")
			throw new AssetError("client-missing", `${program} is not installed`, fault);
		throw fault;
	} finally {
		run.signal.removeEventListener("abort", onAbort);
		watch.stop();
	}
}
