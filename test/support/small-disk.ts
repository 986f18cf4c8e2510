/** A small file system of a test's own, to be filled. Only where the test may mount one. */
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface SmallDisk {
	readonly dir: string;
	/** Writes zeros until nothing more fits. */
	fill(): void;
	/** Takes back what `fill` wrote. */
	empty(): void;
	unmount(): void;
}

/** null where this machine does not let us mount: not Linux, not root, no right to. */
export function mountSmallDisk(megabytes: number): SmallDisk | null {
	if (process.platform !== "linux" || process.getuid?.() !== 0) return null;
	const dir = mkdtempSync(join(tmpdir(), "turnpike-small-disk-"));
	const { exitCode } = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", dir], { stderr: "ignore" });
	if (exitCode !== 0) {
		rmSync(dir, { recursive: true });
		return null;
	}
	const filler = join(dir, "filler");
	return {
		dir,
		fill: () => fill(filler),
		empty: () => rmSync(filler, { force: true }),
		unmount: () => {
			Bun.spawnSync(["umount", "-l", dir]);
			rmSync(dir, { recursive: true, force: true });
		},
	};
}

/** Whether a test may use one; says why where it may not. */
export function canMountSmallDisk(): boolean {
	const trial = mountSmallDisk(1);
	trial?.unmount();
	if (trial === null) console.warn("skipped: a test of a full disk needs Linux, root, and the right to mount a tmpfs");
	return trial !== null;
}

function fill(path: string): void {
	const fd = openSync(path, "w");
	try {
		for (let bytes = 1 << 20; bytes >= 512; ) {
			try {
				writeSync(fd, Buffer.alloc(bytes));
			} catch {
				bytes >>= 1;
			}
		}
	} finally {
		closeSync(fd);
	}
}
