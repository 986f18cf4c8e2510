import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** Longer than any request works in its folder. */
const LEFT_MS = 3_600_000;

/** Removes folders below `parent` that a process which was killed left behind: what callers had spoken is in them. Never throws. */
export async function removeLeftFolders(parent: string, prefix: string, nowMs: number): Promise<void> {
	const names = await readdir(parent).catch(() => []);
	for (const name of names) {
		if (!name.startsWith(prefix)) continue;
		const path = join(parent, name);
		// One of another user, or one that is gone by now, is not ours to remove.
		const facts = await stat(path).catch(() => null);
		if (facts?.isDirectory() && nowMs - facts.mtimeMs > LEFT_MS) await rm(path, { recursive: true, force: true }).catch(() => {});
	}
}

/** Says true at first, and again once an hour has gone by. */
export function everyHour(): (nowMs: number) => boolean {
	let lastMs = Number.NEGATIVE_INFINITY;
	return (nowMs) => {
		if (nowMs - lastMs < LEFT_MS) return false;
		lastMs = nowMs;
		return true;
	};
}
