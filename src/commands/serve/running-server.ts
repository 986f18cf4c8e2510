/** The files that a running server keeps in its data folder for other commands: `serve.pid` and `serve.url`. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OWNER_FILE_MODE } from "../../journal/owner-only.ts";

export interface RunningServer {
	readonly pid: number;
	/** The listening address, `http://HOST:PORT`. */
	readonly url: string;
	/** False if the process was killed. */
	readonly alive: boolean;
}

const pidFile = (dataDir: string) => join(dataDir, "serve.pid");
const urlFile = (dataDir: string) => join(dataDir, "serve.url");

/** Records that this process serves the folder at `url`. */
export function recordServer(dataDir: string, url: string): void {
	// An overwritten file would keep the mode that a killed server's file has.
	removeServerRecord(dataDir);
	writeFileSync(urlFile(dataDir), `${url}\n`, { mode: OWNER_FILE_MODE });
	writeFileSync(pidFile(dataDir), `${process.pid}\n`, { mode: OWNER_FILE_MODE });
}

export function removeServerRecord(dataDir: string): void {
	rmSync(pidFile(dataDir), { force: true });
	rmSync(urlFile(dataDir), { force: true });
}

/** Returns the server that a folder records; null if none runs or it has no recorded address. */
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
