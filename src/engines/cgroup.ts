/**
 * Limits the memory of child processes by the kernel, if this process may create cgroups: version 2 with the memory controller
 * delegated to it, or version 1. Elsewhere only the watch of `process-tree.ts` limits memory.
 * Sources: Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst of Linux; systemd's CGROUP_DELEGATION.
 */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/**
 * The watch kills a tree at its limit, with a reason; the kernel kills one that exceeds the limit by this factor before the
 * next check.
 */
const HEADROOM = 1.25;
const MOUNT = "/sys/fs/cgroup";
/** turnpike-PID-NUMBER, by which groups of a killed server are recognised. */
const GROUP_NAME = /^turnpike-(\d+)-\d+$/;
const REMOVE_EVERY_MS = 100;
const REMOVE_TRIES = 50;

interface Hierarchy {
	readonly version: 1 | 2;
	/** The folder in which children's groups are created. */
	readonly folder: string;
}

let cachedHierarchy: Hierarchy | null | undefined;
let groupCount = 0;

/** Returns the cgroup version that limits children on this machine; null if only the watch does. */
export function cgroupVersion(): 1 | 2 | null {
	return hierarchy()?.version ?? null;
}

/**
 * Limits the memory of a newly started process and its descendants. The returned function kills the remaining ones and removes
 * the group; call it when the process has ended.
 */
export function boundMemory(pid: number, maxBytes: number): () => void {
	const parent = hierarchy();
	if (parent === null) return () => {};
	const folder = join(parent.folder, `turnpike-${process.pid}-${++groupCount}`);
	try {
		mkdirSync(folder);
		limit(folder, parent.version, Math.ceil(maxBytes * HEADROOM));
		writeFileSync(join(folder, "cgroup.procs"), `${pid}`);
	} catch {
		// The process has ended, or the kernel refuses.
		remove(folder);
		return () => {};
	}
	return () => removeSoon(folder, REMOVE_TRIES);
}

function limit(folder: string, version: 1 | 2, bytes: number): void {
	writeFileSync(join(folder, version === 2 ? "memory.max" : "memory.limit_in_bytes"), `${bytes}`);
	// A kernel without swap has no such file.
	if (version === 2) write(join(folder, "memory.swap.max"), "0");
	else write(join(folder, "memory.memsw.limit_in_bytes"), `${bytes}`);
	// A browser without one of its processes is useless, so the whole group is killed.
	if (version === 2) write(join(folder, "memory.oom.group"), "1");
}

function hierarchy(): Hierarchy | null {
	if (cachedHierarchy !== undefined) return cachedHierarchy;
	cachedHierarchy = process.platform === "linux" ? (versionOne() ?? versionTwo()) : null;
	if (cachedHierarchy !== null) removeLeft(cachedHierarchy.folder);
	return cachedHierarchy;
}

function versionOne(): Hierarchy | null {
	const folder = ownFolder(join(MOUNT, "memory"), /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$/m);
	return folder !== null && takesGroups(folder, 1) ? { version: 1, folder } : null;
}

/**
 * A group has processes or children with controllers, never both. So this process has to be in its own group below the
 * delegated one, as systemd's Delegate=memory with DelegateSubgroup= arranges.
 */
function versionTwo(): Hierarchy | null {
	const own = ownFolder(MOUNT, /^0::(.*)$/m);
	if (own === null || own === MOUNT || /\.(?:service|scope|slice)$/.test(basename(own))) return null;
	const folder = dirname(own);
	return pidsIn(folder).length === 0 && takesGroups(folder, 2) ? { version: 2, folder } : null;
}

/** Returns the group of this process; null if it is not visible. In a container the path may be the one outside of it. */
function ownFolder(mount: string, line: RegExp): string | null {
	const path = line.exec(read("/proc/self/cgroup"))?.[1];
	if (path === undefined) return null;
	return [join(mount, path), mount].find((folder) => pidsIn(folder).includes(process.pid)) ?? null;
}

/** Tests whether groups can be created. */
function takesGroups(folder: string, version: 1 | 2): boolean {
	const trial = join(folder, `turnpike-${process.pid}-${++groupCount}`);
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

/** Removes groups of killed servers, and kills the processes in them. */
function removeLeft(folder: string): void {
	for (const name of list(folder)) {
		const pid = Number(GROUP_NAME.exec(name)?.[1] ?? 0);
		if (pid > 0 && pid !== process.pid && !isAlive(pid)) removeSoon(join(folder, name), REMOVE_TRIES);
	}
}

/** Killed processes disappear a moment later. */
function removeSoon(folder: string, tries: number): void {
	if (remove(folder) || tries === 0) return;
	const pids = pidsIn(folder);
	// 0 means a process of another container: the group belongs to a server there.
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
		// The process has ended.
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
		// The setting is optional.
	}
}
