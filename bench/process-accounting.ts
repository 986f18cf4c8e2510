/**
 * What a process and its children have used, as the kernel counts it (Linux /proc). CPU in milliseconds,
 * in steps of 10; memory in MB.
 */
import { readdirSync, readFileSync } from "node:fs";

const MS_PER_TICK = 10;

export interface Usage {
	readonly cpuMs: number;
	/** Resident now, of all processes. */
	readonly rssMb: number;
	/** Highest resident so far: the sum of each process's own peak. */
	readonly peakMb: number;
}

/** Fields of /proc/PID/stat after the command's name, which may hold spaces. */
function statFields(pid: number): readonly string[] | null {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
		return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
	} catch {
		return null;
	}
}

/** `pid` and all that descend from it. */
export function processTree(pid: number): readonly number[] {
	const parents = new Map<number, number>();
	for (const name of readdirSync("/proc")) {
		const child = Number(name);
		const fields = Number.isInteger(child) ? statFields(child) : null;
		if (fields !== null) parents.set(child, Number(fields[1]));
	}
	const tree = [pid];
	for (const member of tree) {
		for (const [child, parent] of parents) if (parent === member) tree.push(child);
	}
	return tree;
}

function statusMb(pid: number, key: "VmRSS" | "VmHWM"): number {
	try {
		const line = new RegExp(`^${key}:\\s+(\\d+) kB$`, "m").exec(readFileSync(`/proc/${pid}/status`, "latin1"));
		return Number(line?.[1] ?? 0) / 1024;
	} catch {
		return 0;
	}
}

/** Own time and that of children which have ended (utime, stime, cutime, cstime: proc(5)). */
function cpuMs(pid: number): number {
	const fields = statFields(pid);
	if (fields === null) return 0;
	return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * MS_PER_TICK;
}

export function usageOf(pids: readonly number[]): Usage {
	const sum = (of: (pid: number) => number) => pids.reduce((total, pid) => total + of(pid), 0);
	return { cpuMs: sum(cpuMs), rssMb: sum((pid) => statusMb(pid, "VmRSS")), peakMb: sum((pid) => statusMb(pid, "VmHWM")) };
}
