/** What a server leaves in its data folder while it runs, so that other commands find it: `serve.pid` and `serve.url`. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OWNER_FILE_MODE } from "../../journal/owner-only.ts";

export interface RunningServer {
	readonly pid: number;
	/** Where it listens, `http://HOST:PORT`. */
	readonly url: string;
	/** False: the process is gone, it was killed. */
	readonly alive: boolean;
}

const pidFile = (dataDir: string) => join(dataDir, "serve.pid");
const urlFile = (dataDir: string) => join(dataDir, "serve.url");

/** Notes that this process serves the folder at `url`. */
export function recordServer(dataDir: string, url: string): void {
	// A killed server's files keep their mode when they are written over.
	removeServerRecord(dataDir);
	writeFileSync(urlFile(dataDir), `${url}\n`, { mode: OWNER_FILE_MODE });
	writeFileSync(pidFile(dataDir), `${process.pid}\n`, { mode: OWNER_FILE_MODE });
}

export function removeServerRecord(dataDir: string): void {
	rmSync(pidFile(dataDir), { force: true });
	rmSync(urlFile(dataDir), { force: true });
}

/** The server that a folder tells of; null where none runs, or none that left its address. */
export function recordedServer(dataDir: string): RunningServer | null {
	try {
		const pid = Number(readFileSync(pidFile(dataDir), "utf8"));
		const url = readFileSync(urlFile(dataDir), "utf8").trim();
		return Number.isInteger(pid) && pid > 0 && URL.canParse(url) ? { pid, url, alive: isAlive(pid) } : null;
	} catch {
		return null;
	}
}

function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === "EPERM";
	}
}
