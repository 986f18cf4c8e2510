/** The machine that the figures belong to. */
import { readFileSync } from "node:fs";
import { arch, cpus, loadavg, release, totalmem } from "node:os";

export interface Machine {
	readonly processor: string;
	readonly cores: number;
	readonly memoryGb: number;
	readonly system: string;
	readonly date: string;
	readonly commit: string;
	/** Load average of the minute before the run. */
	readonly loadBefore: number;
}

const loadBefore = loadavg()[0] ?? 0;

/** True where something else was at work: such figures are worth little. */
export function isBusy(machine: Pick<Machine, "cores" | "loadBefore">): boolean {
	return machine.loadBefore > machine.cores / 2;
}

function systemName(): string {
	try {
		return /^PRETTY_NAME="(.*)"$/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? process.platform;
	} catch {
		return process.platform;
	}
}

export function machine(): Machine {
	const commit = Bun.spawnSync(["git", "rev-parse", "--short", "HEAD"], { cwd: import.meta.dir });
	return {
		processor: cpus()[0]?.model.trim() ?? "unknown",
		cores: cpus().length,
		memoryGb: Math.round(totalmem() / 2 ** 30),
		system: `${systemName()}, Linux ${release()} ${arch()}`,
		date: new Date().toISOString().slice(0, 10),
		commit: commit.success ? commit.stdout.toString().trim() : "unknown",
		loadBefore,
	};
}
