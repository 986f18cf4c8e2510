import { accessSync, constants, existsSync, readFileSync, type Stats, statfsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Config } from "../../config/index.ts";
import { cgroupVersion } from "../../engines/cgroup.ts";
import { openMode } from "../../journal/owner-only.ts";
import { listenProblem } from "../../server/index.ts";
import { journalFolder } from "../../store/index.ts";
import { archiveFolder } from "../../store/retention/retention-order.ts";
import { type Finding, fault, notice, ok } from "../../telemetry/finding.ts";
import { recordedServer } from "../serve/running-server.ts";

/** With fewer descriptors a busy node refuses connections: each request takes one, and its upstream another. */
const LEAST_DESCRIPTORS = 1_024;
const ALL_RIGHTS = constants.R_OK | constants.W_OK;

export function checkMemoryLimits(): Finding {
	const version = cgroupVersion();
	const text = version === null ? "measured ten times a second" : `measured, and limited by the kernel (cgroup v${version})`;
	return ok("memory of child processes", text);
}

/** Checks that the data folder is usable and private, and that its disk has space. */
export function checkDataFolder({ data, journal }: Config): Finding[] {
	const name = "data folder";
	const dir = resolve(data);
	const stats = statOf(dir);
	if (stats === null) {
		const parent = nearestAbove(dir);
		if (statOf(parent)?.isDirectory() !== true)
			return [fault(name, `${dir} cannot be created: ${parent} is not a folder`, OTHER_FOLDER)];
		if (!mayUse(parent)) return [fault(name, `${dir} cannot be created: this user cannot write to ${parent}`, OTHER_FOLDER)];
		return [ok(name, `${dir} is created at the first start`), ...diskOf(parent, journal.minFreeDiskMb)];
	}
	if (!stats.isDirectory()) return [fault(name, `${dir} is a file`, OTHER_FOLDER)];
	const unwritable = [dir, ...["turnpike.db", "lock.db", "journal", "assets"].map((entry) => join(dir, entry))].find(
		(path) => existsSync(path) && !mayUse(path),
	);
	if (unwritable !== undefined) return [fault(name, `this user cannot write to ${unwritable}`, `chown -R "$(id -u)" ${dir}`)];
	const segments = journalFolder(dir);
	if (statOf(segments)?.isDirectory() === false)
		return [fault(name, `${segments} is a file, and the journal needs a folder of that name`, `mv ${segments} ${segments}.old`)];
	const mode = openMode(dir);
	const rights =
		mode === null ? ok(name, dir) : notice(name, `${dir}: other users can read it (mode ${mode})`, `chmod 700 ${dir}`);
	return [rights, ...diskOf(dir, journal.minFreeDiskMb)];
}

/** Checks the archive folder, if an archive is configured. */
export function checkArchive({ retention, data }: Config): Finding[] {
	if (retention.journalMonths === undefined) return [];
	const name = "archive";
	const dir = resolve(archiveFolder(retention, data));
	const mend = "set retention.folder to a folder that this user can write";
	const nearest = existsSync(dir) ? dir : nearestAbove(dir);
	if (statOf(nearest)?.isDirectory() !== true) return [fault(name, `${dir} cannot be used: ${nearest} is not a folder`, mend)];
	return [mayUse(nearest) ? ok(name, dir) : fault(name, `${dir} cannot be used: this user cannot write to ${nearest}`, mend)];
}

const OTHER_FOLDER = "name another folder with --data or TURNPIKE_DATA";

function diskOf(dir: string, minFreeDiskMb: number): Finding[] {
	const name = "disk";
	const { bavail, blocks, bsize } = statfsSync(dir);
	// The journal counts a megabyte as 1,048,576 bytes, too.
	const megabytes = (count: number) => Math.floor((count * bsize) / 1_048_576);
	const freeMb = megabytes(bavail);
	const text = `${freeMb} MB free, journal.minFreeDiskMb is ${minFreeDiskMb}`;
	if (freeMb >= minFreeDiskMb) return [ok(name, text)];
	if (megabytes(blocks) < minFreeDiskMb)
		return [fault(name, `${text}, more than the disk has: new requests get 503`, "journal: {minFreeDiskMb: 200}")];
	return [fault(name, `${text}: new requests get 503`, `free space on the disk of ${dir}: du -sh ${dir}/*`)];
}

function statOf(path: string): Stats | null {
	try {
		return statSync(path);
	} catch {
		return null;
	}
}

function nearestAbove(path: string): string {
	const parent = dirname(path);
	return existsSync(parent) || parent === path ? parent : nearestAbove(parent);
}

function mayUse(path: string): boolean {
	try {
		accessSync(path, ALL_RIGHTS);
		return true;
	} catch {
		return false;
	}
}

/** Checks the limit with which this process started; only Linux reports it. */
export function checkFileDescriptors(): Finding[] {
	const name = "file descriptors";
	if (!existsSync("/proc/self/limits")) return [];
	// The runtime raises its own limit to the hard limit, the third column.
	const limit = Number(/^Max open files\s+\S+\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? Number.NaN);
	if (Number.isNaN(limit) || limit >= LEAST_DESCRIPTORS) return [];
	return [fault(name, `at most ${limit}: each connection takes one, and its upstream another`, "ulimit -n 65536")];
}

/** Checks the folder's server; if none runs, checks that one could listen. */
export async function checkServer({ data, server }: Config): Promise<Finding> {
	const name = "server";
	const noted = recordedServer(data);
	if (noted?.alive === true) return running(noted.pid, noted.url);
	const refusal = await listenProblem(server.host, server.port);
	if (refusal !== null) {
		const isTaken = refusal.name === "PortTakenError";
		return fault(name, refusal.message, isTaken ? `TURNPIKE_PORT=${server.port + 1} npm start` : "server: {host: 127.0.0.1}");
	}
	return ok(
		name,
		noted === null ? "not running on this folder (npm start)" : `not running: process ${noted.pid} was killed (npm start)`,
	);
}

async function running(pid: number, url: string): Promise<Finding> {
	const name = "server";
	try {
		const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(3_000) });
		const text = `process ${pid} at ${url}: ${(await response.text()).trim()}`;
		return response.ok ? ok(name, text) : fault(name, text, "read its log, which says what it is waiting for");
	} catch {
		return fault(name, `process ${pid} runs, but nothing answers at ${url}`, `kill -9 ${pid}; npm start`);
	}
}
