import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { watchWork } from "./work-meter.ts";

/** The resources that a process and its descendants use, as counted by the kernel. */
export interface TreeUsage {
	/** Resident memory, in bytes. File pages of the descendants do not count: they are shared, and can be dropped. */
	readonly residentBytes: number;
	/** Processor time so far, including ended processes, in steps of 10 ms. It never falls. */
	readonly cpuMs: number;
}

interface TreeMember extends TreeUsage {
	readonly pid: number;
}

const WATCH_EVERY_MS = 100;
/** USER_HZ is 100 on every architecture that Bun runs on (proc(5), times(2)). */
const MS_PER_TICK = 10;

/** Returns the usage; null if there is no /proc, or the process has ended. */
export function treeUsage(pid: number): TreeUsage | null {
	const members = treeOf(pid);
	if (members.length === 0) return null;
	const sum = (of: (member: TreeMember) => number) => members.reduce((total, member) => total + of(member), 0);
	return { residentBytes: sum(({ residentBytes }) => residentBytes), cpuMs: sum(({ cpuMs }) => cpuMs) };
}

export const treeResidentBytes = (pid: number): number | null => treeUsage(pid)?.residentBytes ?? null;

/** Kills a program that works longer than `workMs`, or stalls, until the returned function is called. */
export function killAtLimit(child: ChildProcess, workMs: number): () => void {
	const { pid } = child;
	if (pid === undefined) return () => {};
	return watchWork(
		() => treeUsage(pid),
		{ workMs },
		() => child.kill("SIGKILL"),
	);
}

/** Kills a process with its group, if it leads one, and all descendants. Does nothing if it has ended. */
export function endTree(pid: number): void {
	const members = treeOf(pid);
	for (const target of [pid, -pid, ...members.map((member) => member.pid)]) {
		try {
			process.kill(target, "SIGKILL");
		} catch {
			// The process has ended, or leads no group.
		}
	}
}

/** Calls `onOver` once when a process tree has more than `maxBytes`; the returned function ends the watch. */
export function limitTree(pid: number, maxBytes: number, onOver: () => void): () => void {
	const timer = setInterval(() => {
		if ((treeResidentBytes(pid) ?? 0) <= maxBytes) return;
		clearInterval(timer);
		onOver();
	}, WATCH_EVERY_MS);
	return () => clearInterval(timer);
}

/** Returns the process, then its descendants by generation. Empty if it has ended. */
function treeOf(root: number): TreeMember[] {
	const members: TreeMember[] = [];
	const seen = new Set<number>();
	const pids = [root];
	for (let pid = pids.shift(); pid !== undefined; pid = pids.shift()) {
		const status = seen.has(pid) ? "" : read(`/proc/${pid}/status`);
		if (status === "") continue;
		seen.add(pid);
		const fields = pid === root ? ["VmRSS"] : ["RssAnon", "RssShmem"];
		const residentBytes = fields.reduce((sum, field) => sum + kilobytes(status, field) * 1_024, 0);
		members.push({ pid, residentBytes, cpuMs: cpuMs(pid) });
		// Each thread has its own list of children.
		for (const thread of threadsOf(pid))
			pids.push(...read(`/proc/${pid}/task/${thread}/children`).split(" ").filter(Boolean).map(Number));
	}
	return members;
}

function kilobytes(status: string, field: string): number {
	return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1] ?? 0);
}

/**
 * Returns the process's own time and that of its ended children: utime, stime, cutime, cstime. The command's name may contain
 * spaces.
 */
function cpuMs(pid: number): number {
	const stat = read(`/proc/${pid}/stat`);
	const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
	return fields.slice(11, 15).reduce((ticks, field) => ticks + Number(field), 0) * MS_PER_TICK;
}

function threadsOf(pid: number): string[] {
	try {
		return readdirSync(`/proc/${pid}/task`);
	} catch {
		return [];
	}
}

/** Returns "" if the process has ended. */
function read(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return "";
	}
}
