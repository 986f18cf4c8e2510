/**
 * Memory limits of child processes by the kernel, where this process may make cgroups: of version 2 with the memory
 * controller delegated to it, or of version 1. Elsewhere nothing happens, and the watch of `process-tree.ts` stands alone.
 *
 * Sources: Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst of Linux; systemd's CGROUP_DELEGATION.
 */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** The watch ends a tree at its limit, with a reason; the kernel ends what grows by so much before the watch looks. */
const HEADROOM = 1.25;
const MOUNT = "/sys/fs/cgroup";
/** turnpike-PID of the server-number: what a killed server leaves is known by it. */
const OURS = /^turnpike-(\d+)-\d+$/;
const REMOVE_EVERY_MS = 100;
const REMOVE_TRIES = 50;

interface Hierarchy {
	readonly version: 1 | 2;
	/** Where groups for children are made. */
	readonly folder: string;
}

let found: Hierarchy | null | undefined;
let made = 0;

/** The version of the cgroups that bound children here; null where only the watch does. */
export function cgroupVersion(): 1 | 2 | null {
	return hierarchy()?.version ?? null;
}

/**
 * Bounds the memory of a process that has just been started, and of all that it will start. The function that is
 * returned ends what is left of them, and removes the group: for when the process has ended.
 */
export function boundMemory(pid: number, maxBytes: number): () => void {
	const parent = hierarchy();
	if (parent === null) return () => {};
	const folder = join(parent.folder, `turnpike-${process.pid}-${++made}`);
	try {
		mkdirSync(folder);
		limit(folder, parent.version, Math.ceil(maxBytes * HEADROOM));
		writeFileSync(join(folder, "cgroup.procs"), `${pid}`);
	} catch {
		// It has ended, or the kernel does not want it so.
		remove(folder);
		return () => {};
	}
	return () => removeSoon(folder, REMOVE_TRIES);
}

function limit(folder: string, version: 1 | 2, bytes: number): void {
	writeFileSync(join(folder, version === 2 ? "memory.max" : "memory.limit_in_bytes"), `${bytes}`);
	// Without swap in the kernel these are not there.
	if (version === 2) write(join(folder, "memory.swap.max"), "0");
	else write(join(folder, "memory.memsw.limit_in_bytes"), `${bytes}`);
	// What is left of a browser without one of its processes is of no use.
	if (version === 2) write(join(folder, "memory.oom.group"), "1");
}

function hierarchy(): Hierarchy | null {
	if (found !== undefined) return found;
	found = process.platform === "linux" ? (versionOne() ?? versionTwo()) : null;
	if (found !== null) removeLeft(found.folder);
	return found;
}

function versionOne(): Hierarchy | null {
	const folder = ownFolder(join(MOUNT, "memory"), /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$/m);
	return folder !== null && takesGroups(folder, 1) ? { version: 1, folder } : null;
}

/**
 * A group has processes or children with controllers, never both. So this process has to be in a group of its own below the
 * one that is delegated, as systemd's Delegate=memory with DelegateSubgroup= makes it.
 */
function versionTwo(): Hierarchy | null {
	const own = ownFolder(MOUNT, /^0::(.*)$/m);
	if (own === null || own === MOUNT || /\.(?:service|scope|slice)$/.test(basename(own))) return null;
	const folder = dirname(own);
	return pidsIn(folder).length === 0 && takesGroups(folder, 2) ? { version: 2, folder } : null;
}

/** The group that this process is in; null where it does not show. In a container the path may be that outside of it. */
function ownFolder(mount: string, line: RegExp): string | null {
	const path = line.exec(read("/proc/self/cgroup"))?.[1];
	if (path === undefined) return null;
	return [join(mount, path), mount].find((folder) => pidsIn(folder).includes(process.pid)) ?? null;
}

/** Tries it out. */
function takesGroups(folder: string, version: 1 | 2): boolean {
	const trial = join(folder, `turnpike-${process.pid}-${++made}`);
	try {
		if (version === 2) writeFileSync(join(folder, "cgroup.subtree_control"), "+memory");
		mkdirSync(trial);
		limit(trial, version, 2 ** 30);
		return true;
	} catch {
		return false;
	} finally {
		remove(trial);
	}
}

/** Groups of servers that were killed, with what still runs in them. */
function removeLeft(folder: string): void {
	for (const name of list(folder)) {
		const pid = Number(OURS.exec(name)?.[1] ?? 0);
		if (pid > 0 && pid !== process.pid && !isAlive(pid)) removeSoon(join(folder, name), REMOVE_TRIES);
	}
}

/** Processes go a moment after they were ended. */
function removeSoon(folder: string, tries: number): void {
	if (remove(folder) || tries === 0) return;
	const pids = pidsIn(folder);
	// 0 stands for a process of another container: then it is the group of a server there.
	if (pids.includes(0)) return;
	for (const pid of pids) if (pid !== process.pid) end(pid);
	setTimeout(() => removeSoon(folder, tries - 1), REMOVE_EVERY_MS).unref();
}

function remove(folder: string): boolean {
	try {
		rmdirSync(folder);
		return true;
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === "ENOENT";
	}
}

function end(pid: number): void {
	try {
		process.kill(pid, "SIGKILL");
	} catch {
		// It has ended.
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

function pidsIn(folder: string): number[] {
	return read(join(folder, "cgroup.procs")).split("\n").filter(Boolean).map(Number);
}

function list(folder: string): string[] {
	try {
		return readdirSync(folder);
	} catch {
		return [];
	}
}

function read(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return "";
	}
}

function write(path: string, text: string): void {
	try {
		writeFileSync(path, text);
	} catch {
		// It is a wish.
	}
}
