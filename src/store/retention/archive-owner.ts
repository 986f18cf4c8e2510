/** The owner of an archive: one process at a time, on one machine, in one folder. */
import { hostname } from "node:os";
import { resolve } from "node:path";

/** An archive that nobody advanced for this long may be taken over. */
const ABANDONED_MS = 10 * 60_000;

/** Returns this process and its folder in the form that the store records. */
export function ownerOf(folder: string): string {
	return `${hostname()}:${process.pid}:${resolve(folder)}`;
}

/**
 * Returns true where an owner has ended, as far as this machine can tell, or has not advanced its archive for long.
 * Times are Unix milliseconds.
 */
export function isAbandoned(owner: string, movedAtMs: number, nowMs: number): boolean {
	const [, host = "", pid = ""] = /^(.*):(\d+):/.exec(owner) ?? [];
	return nowMs - movedAtMs > ABANDONED_MS || (host === hostname() && !isAlive(Number(pid)));
}

function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return (error as NodeJS.ErrnoException).code !== "ESRCH";
	}
}
