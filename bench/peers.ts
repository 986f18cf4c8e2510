/**
 * What is measured: the scripted upstream, and in front of it nginx, a plain Go reverse proxy and Turnpike,
 * each a real program on a port of its own.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";

export const ROOT = join(import.meta.dir, "..");
export const BUILD = join(ROOT, ".cache", "bench");
const READY_WITHIN_MS = 20_000;

export interface Target {
	readonly name: string;
	/** host:port */
	readonly address: string;
	readonly path: string;
	readonly key: string;
	readonly pid: number;
	readonly version: string;
	readonly isPeer: boolean;
	/** From the start of the program to its first answer. */
	readonly startMs: number;
	stop(): Promise<void>;
}

/** A port that is free now. */
export function freePort(): Promise<number> {
	return new Promise((resolve, reject) => {
		const probe = createServer();
		probe.once("error", reject);
		probe.listen(0, "127.0.0.1", () => {
			const { port } = probe.address() as AddressInfo;
			probe.close(() => resolve(port));
		});
	});
}

function output(command: readonly string[]): string | null {
	try {
		const result = Bun.spawnSync([...command], { stdout: "pipe", stderr: "pipe" });
		return result.success ? `${result.stdout.toString()}${result.stderr.toString()}`.trim() : null;
	} catch {
		return null;
	}
}

export const goVersion = () => output(["go", "version"])?.replace(/^go version /, "") ?? null;
export const nginxVersion = () => output(["nginx", "-v"])?.replace(/^.*nginx\//, "") ?? null;

/** Builds the Go programs of the bench; they use the standard library only. */
export function buildGoPrograms(): void {
	mkdirSync(BUILD, { recursive: true });
	for (const name of ["upstream", "rpc-upstream", "load", "reverse-proxy"]) {
		const build = Bun.spawnSync(["go", "build", "-trimpath", "-o", join(BUILD, name), `./${name}`], {
			cwd: join(import.meta.dir, "peers"),
			stderr: "pipe",
		});
		if (!build.success) throw new Error(`go build ${name}: ${build.stderr.toString()}`);
	}
}

async function untilAnswers(address: string, path: string, child: Bun.Subprocess): Promise<void> {
	const deadline = performance.now() + READY_WITHIN_MS;
	while (performance.now() < deadline) {
		if (child.exitCode !== null) throw new Error(`it ended with code ${child.exitCode}`);
		try {
			const response = await fetch(`http://${address}${path}`);
			await response.arrayBuffer();
			if (response.ok) return;
		} catch {
			// Not listening yet.
		}
		await Bun.sleep(5);
	}
	throw new Error(`no answer on ${address}${path} within ${READY_WITHIN_MS / 1000} s`);
}

interface Start {
	readonly name: string;
	readonly command: readonly string[];
	readonly port: number;
	readonly version: string;
	readonly isPeer?: boolean;
	readonly path?: string;
	readonly readyPath?: string;
	readonly key?: string;
	readonly env?: Readonly<Record<string, string>>;
	readonly log: string;
}

/** Starts a program and waits until it answers. */
export async function start(what: Start): Promise<Target> {
	const address = `127.0.0.1:${what.port}`;
	const started = performance.now();
	const child = Bun.spawn([...what.command], {
		cwd: ROOT,
		env: { ...process.env, ...what.env },
		stdout: Bun.file(what.log),
		stderr: Bun.file(`${what.log}.err`),
	});
	try {
		await untilAnswers(address, what.readyPath ?? "/v1/models", child);
	} catch (error) {
		child.kill("SIGKILL");
		const log = existsSync(`${what.log}.err`) ? readFileSync(`${what.log}.err`, "utf8").slice(-2_000) : "";
		throw new Error(`${what.name} did not start: ${error instanceof Error ? error.message : error}\n${log}`);
	}
	return {
		name: what.name,
		address,
		path: what.path ?? "/v1/chat/completions",
		key: what.key ?? "none",
		pid: child.pid,
		version: what.version,
		isPeer: what.isPeer ?? false,
		startMs: performance.now() - started,
		async stop() {
			child.kill("SIGTERM");
			await child.exited;
		},
	};
}

/** The scripted upstream: 50 events a stream, written at once or one each `paceMs`. */
export async function startUpstream(folder: string, paceMs: number): Promise<Target> {
	const port = await freePort();
	return start({
		name: paceMs === 0 ? "upstream alone" : `upstream alone, an event each ${paceMs} ms`,
		command: [join(BUILD, "upstream"), "-listen", `127.0.0.1:${port}`, "-pace", `${paceMs}ms`],
		port,
		version: "",
		env: { GOMAXPROCS: "1" },
		log: join(folder, `upstream-${paceMs}.log`),
	});
}

export async function startGoProxy(folder: string, upstream: Target, version: string): Promise<Target> {
	const port = await freePort();
	return start({
		name: "Go ReverseProxy",
		command: [join(BUILD, "reverse-proxy"), "-listen", `127.0.0.1:${port}`, "-upstream", `http://${upstream.address}`],
		port,
		version,
		isPeer: true,
		log: join(folder, `go-${port}.log`),
	});
}

export async function startNginx(folder: string, upstream: Target, version: string): Promise<Target> {
	const port = await freePort();
	const home = join(folder, `nginx-${port}`);
	mkdirSync(home, { recursive: true });
	writeFileSync(
		join(home, "nginx.conf"),
		`daemon off; worker_processes 1; pid ${home}/pid; error_log ${home}/error.log;
		events { worker_connections 4096; }
		http {
			access_log off;
			${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${home}/${kind};`).join(" ")}
			keepalive_requests 100000000;
			upstream model { server ${upstream.address}; keepalive 256; keepalive_requests 100000000; }
			server {
				listen 127.0.0.1:${port};
				location / { proxy_pass http://model; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; }
			}
		}`,
	);
	const command = ["nginx", "-p", home, "-c", join(home, "nginx.conf")];
	return start({ name: "nginx proxy_pass", command, port, version, isPeer: true, log: join(folder, `nginx-${port}.log`) });
}

/** Turnpike as an operator starts it, with a priced model, a key with money and limits that do not bite. */
export async function startTurnpike(folder: string, upstream: Target, version: string): Promise<Target> {
	const port = await freePort();
	const home = join(folder, `turnpike-${port}`);
	mkdirSync(home, { recursive: true });
	const config = join(home, "turnpike.yaml");
	writeFileSync(
		config,
		JSON.stringify({
			accounts: { startingCreditUsd: "1000000" },
			limits: { default: { requestsPerMinute: 1_000_000_000, tokensPerMinute: 1_000_000_000_000 } },
			log: { level: "warn" },
			models: {
				entries: {
					"bench-model": {
						type: "text",
						upstreams: [{ upstream: "bench" }],
						price: { input: 0.5, output: 1.5 },
						contextTokens: 128_000,
						maxCompletionTokens: 8_192,
					},
				},
			},
			upstreams: { bench: { url: `http://${upstream.address}/v1` } },
		}),
	);
	const key = `bench-${crypto.randomUUID()}`;
	return start({
		name: "Turnpike",
		command: ["node", join(ROOT, "start.mjs"), "--port", String(port), "--data", join(home, "data"), "--config", config],
		port,
		version,
		path: "/api/v1/chat/completions",
		readyPath: "/readyz",
		key,
		env: { TURNPIKE_ADMIN_KEY: key },
		log: join(home, "out.log"),
	});
}
