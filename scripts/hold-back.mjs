#!/usr/bin/env node
/**
 * `node scripts/hold-back.mjs 30 npm test`: runs a command, and holds each of its processes to 30 % of a core, as a slow
 * or busy machine does. Tests that pass here depend on no speed. Linux, as root: each process gets a cgroup of its own.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const LOOK_EVERY_MS = 50;
const PERIOD_US = 20_000;
/** Folders of ended processes are removed once in so many looks. */
const LOOKS_A_CLEANING = 40;

/** Where cgroups with a CPU limit are made: version 1, else version 2 (https://docs.kernel.org/admin-guide/cgroup-v2.html). */
function cgroupRoot() {
	if (existsSync("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")) return { folder: "/sys/fs/cgroup/cpu", limit: limitV1 };
	if (existsSync("/sys/fs/cgroup/cgroup.subtree_control")) {
		writeFileSync("/sys/fs/cgroup/cgroup.subtree_control", "+cpu");
		return { folder: "/sys/fs/cgroup", limit: limitV2 };
	}
	throw new Error("This machine has no cgroups that limit the CPU.");
}

function limitV1(folder, quotaUs) {
	writeFileSync(join(folder, "cpu.cfs_period_us"), String(PERIOD_US));
	writeFileSync(join(folder, "cpu.cfs_quota_us"), String(quotaUs));
}

function limitV2(folder, quotaUs) {
	writeFileSync(join(folder, "cpu.max"), `${quotaUs} ${PERIOD_US}`);
}

/** Process id -> that of its parent. */
function parents() {
	const found = new Map();
	for (const name of readdirSync("/proc")) {
		if (!/^\d+$/.test(name)) continue;
		try {
			const stat = readFileSync(`/proc/${name}/stat`, "utf8");
			found.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
		} catch {
			// It ended meanwhile.
		}
	}
	return found;
}

/** The processes of the command: those known, as long as they live, and all that they started. */
function family(known, running) {
	const members = new Set([...known].filter((pid) => running.has(pid)));
	for (let grew = true; grew; ) {
		grew = false;
		for (const [pid, parent] of running) {
			if (members.has(pid) || !members.has(parent)) continue;
			members.add(pid);
			grew = true;
		}
	}
	return members;
}

function remove(folder) {
	try {
		rmdirSync(folder);
		return true;
	} catch {
		return false;
	}
}

function main([percent, command, ...args]) {
	if (!/^[1-9]\d?$/.test(percent ?? "") || command === undefined)
		throw new Error("Usage: node scripts/hold-back.mjs PERCENT COMMAND [ARGUMENT...], with 1 to 99 per cent of a core");
	const { folder, limit } = cgroupRoot();
	const own = join(folder, `hold-back-${process.pid}`);
	mkdirSync(own);
	const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit"] });
	let members = new Set([child.pid]);
	const held = new Map();
	let looks = 0;
	const look = () => {
		const running = parents();
		members = family(members, running);
		for (const pid of members) {
			if (held.has(pid)) continue;
			const place = join(own, String(pid));
			try {
				mkdirSync(place, { recursive: true });
				limit(place, (PERIOD_US / 100) * Number(percent));
				writeFileSync(join(place, "cgroup.procs"), String(pid));
				held.set(pid, place);
			} catch {
				// It ended meanwhile.
			}
		}
		if (++looks % LOOKS_A_CLEANING !== 0) return;
		for (const [pid, place] of held) if (!running.has(pid) && remove(place)) held.delete(pid);
	};
	const timer = setInterval(look, LOOK_EVERY_MS);
	child.once("error", (error) => process.stderr.write(`${error.message}\n`));
	child.once("close", (code) => {
		clearInterval(timer);
		process.exitCode = code ?? 1;
		// The kernel takes a moment to let go of the last process.
		setTimeout(() => {
			for (const place of held.values()) remove(place);
			remove(own);
		}, LOOK_EVERY_MS * 4);
	});
}

try {
	main(process.argv.slice(2));
} catch (error) {
	process.stderr.write(`${error.message}\n`);
	process.exitCode = 1;
}
