/**
 * A lock between processes on one checkout: whoever holds it may install into it.
 *
 * The lock is a file made with O_EXCL that names its holder; the holder touches it every second. It is taken
 * over where the holder (and the npm that it started) is gone, or has not touched it for 30 s: a machine
 * that was switched off in the middle of an installation must not need a hand to start again.
 */
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const TOUCH_EVERY_MS = 1_000;
const STALE_AFTER_MS = 30_000;
const POLL_MS = 100;

/** True where a process of this machine with that id exists (also one of another user). */
function isAlive(pid) {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return error.code === "EPERM";
	}
}

/** The lock file's text, or null where it is gone. */
function read(path) {
	try {
		return readFileSync(path, "utf8");
	} catch (error) {
		if (error.code === "ENOENT") return null;
		throw error;
	}
}

function isStale(path, text) {
	let ageMs;
	try {
		ageMs = Date.now() - statSync(path).mtimeMs;
	} catch {
		return false;
	}
	if (ageMs > STALE_AFTER_MS) return true;
	try {
		const holder = JSON.parse(text);
		return holder.host === hostname() && !holder.pids.some(isAlive);
	} catch {
		// Made a moment ago and not written yet, or cut off by a crash: then its age decides.
		return false;
	}
}

/** Moves a stale lock out of the way. The rename decides between two that try at once. */
function removeStale(path, staleText) {
	const aside = `${path}.${process.pid}`;
	try {
		renameSync(path, aside);
	} catch (error) {
		if (error.code === "ENOENT") return;
		throw error;
	}
	// Someone else was quicker and this is their fresh lock: give it back.
	if (read(aside) !== staleText && read(path) === null) renameSync(aside, path);
	else rmSync(aside, { force: true });
}

function create(path) {
	try {
		return openSync(path, "wx");
	} catch (error) {
		if (error.code === "EEXIST") return null;
		throw error;
	}
}

/**
 * Waits for the lock and takes it.
 *
 * @param {string} path file of the lock; its folder is made where missing
 * @param {() => void} onWait called once where another process holds it
 * @returns {Promise<{ addPid(pid: number): void, release(): void }>} `addPid` names a child that keeps the
 *   lock alive should this process be killed; `release` may be called twice
 */
export async function takeLock(path, onWait = () => {}) {
	mkdirSync(dirname(path), { recursive: true });
	let told = false;
	for (;;) {
		const descriptor = create(path);
		if (descriptor !== null) return hold(path, descriptor);
		const text = read(path);
		if (text === null) continue;
		if (isStale(path, text)) {
			removeStale(path, text);
			continue;
		}
		if (!told) onWait();
		told = true;
		await sleep(POLL_MS);
	}
}

function hold(path, descriptor) {
	const pids = [process.pid];
	const write = () => {
		const text = Buffer.from(JSON.stringify({ host: hostname(), pids }));
		writeSync(descriptor, text, 0, text.length, 0);
	};
	write();
	const timer = setInterval(() => {
		try {
			utimesSync(path, new Date(), new Date());
		} catch {
			// Removed by hand: nothing to keep alive.
		}
	}, TOUCH_EVERY_MS);
	timer.unref();
	let held = true;
	const release = () => {
		if (!held) return;
		held = false;
		clearInterval(timer);
		process.off("exit", release);
		closeSync(descriptor);
		rmSync(path, { force: true });
	};
	process.once("exit", release);
	return {
		addPid(pid) {
			pids.push(pid);
			write();
		},
		release,
	};
}
