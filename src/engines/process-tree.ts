import { readdirSync, readFileSync } from "node:fs";

/** A process and what it has resident, in bytes. */
interface TreeMember {
	readonly pid: number;
	readonly residentBytes: number;
}

const WATCH_EVERY_MS = 100;

/**
 * Resident memory of a process and of all that it started, in bytes, from the kernel; null where there is no /proc. Of the
 * started ones pages of files do not count: they are shared with others, and can be dropped.
 */
export function treeResidentBytes(pid: number): number | null {
	const members = treeOf(pid);
	if (members.length === 0) return null;
	return members.reduce((sum, { residentBytes }) => sum + residentBytes, 0);
}

/** Ends a process with its group, where it leads one, and all that it started. Does nothing where it has ended. */
export function endTree(pid: number): void {
	const members = treeOf(pid);
	for (const target of [pid, -pid, ...members.map((member) => member.pid)]) {
		try {
			process.kill(target, "SIGKILL");
		} catch {
			// It has ended, or leads no group.
		}
	}
}

/** Calls `onOver` once when the tree of a process has more than `maxBytes`; the function that is returned ends the watch. */
export function watchTree(pid: number, maxBytes: number, onOver: () => void): () => void {
	const timer = setInterval(() => {
		if ((treeResidentBytes(pid) ?? 0) <= maxBytes) return;
		clearInterval(timer);
		onOver();
	}, WATCH_EVERY_MS);
	return () => clearInterval(timer);
}

/** The process first, then what it started, generation by generation. Empty where it has ended. */
function treeOf(root: number): TreeMember[] {
	const members: TreeMember[] = [];
	const seen = new Set<number>();
	const pids = [root];
	for (let pid = pids.shift(); pid !== undefined; pid = pids.shift()) {
		const status = seen.has(pid) ? "" : read(`/proc/${pid}/status`);
		if (status === "") continue;
		seen.add(pid);
		const fields = pid === root ? ["VmRSS"] : ["RssAnon", "RssShmem"];
		members.push({ pid, residentBytes: fields.reduce((sum, field) => sum + kilobytes(status, field) * 1_024, 0) });
		// Each thread has a list of what it started.
		for (const thread of threadsOf(pid))
			pids.push(...read(`/proc/${pid}/task/${thread}/children`).split(" ").filter(Boolean).map(Number));
	}
	return members;
}

function kilobytes(status: string, field: string): number {
	return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1] ?? 0);
}

function threadsOf(pid: number): string[] {
	try {
		return readdirSync(`/proc/${pid}/task`);
	} catch {
		return [];
	}
}

/** "" where the process has ended. */
function read(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return "";
	}
}
