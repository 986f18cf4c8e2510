import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** Longer than any request uses its folder. */
const LEFT_MS = 3_600_000;

/** Removes folders below `parent` that a killed process left, because they contain callers' speech. It never throws. */
export async function removeLeftFolders(parent: string, prefix: string, nowMs: number): Promise<void> {
	const names = await readdir(parent).catch(() => []);
	for (const name of names) {
		if (!name.startsWith(prefix)) continue;
		const path = join(parent, name);
		// A folder of another user, or one that no longer exists, is skipped.
		const stats = await stat(path).catch(() => null);
		if (stats?.isDirectory() && nowMs - stats.mtimeMs > LEFT_MS) await rm(path, { recursive: true, force: true }).catch(() => {});
	}
}

/** Returns a function that returns true at first, and again after each hour. */
export function everyHour(): (nowMs: number) => boolean {
	let lastMs = Number.NEGATIVE_INFINITY;
	return (nowMs) => {
		if (nowMs - lastMs < LEFT_MS) return false;
		lastMs = nowMs;
		return true;
	};
}
