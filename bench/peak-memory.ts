/** The highest resident memory of a process from a moment on (Linux: proc(5), clear_refs and VmHWM). */
import { writeFileSync } from "node:fs";
import { usageOf } from "./process-accounting.ts";

/** Begins to watch for a peak. Returns what is resident now, MB. */
export function resetPeak(pid: number): number {
	writeFileSync(`/proc/${pid}/clear_refs`, "5");
	return usageOf([pid]).rssMb;
}

/** How far the peak since `resetPeak` is above `baseMb`, MB. */
export function peakMbSince(pid: number, baseMb: number): number {
	return usageOf([pid]).peakMb - baseMb;
}
