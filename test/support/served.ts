import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { until } from "./until.ts";

const ROOT = join(import.meta.dir, "../..");
/** A key that a test gives its server: TURNPIKE_ADMIN_KEY. */
export const ADMIN_KEY = "sk_adm_test-key-of-this-test-run-0001";

export interface ServeOptions {
	/** Default: a folder of its own, removed by `remove`. */
	readonly dataDir?: string;
	/** Written to a file as turnpike.yaml (JSON is YAML). */
	readonly config?: object;
	readonly env?: Readonly<Record<string, string>>;
	readonly port?: number;
	/** True: no TURNPIKE_ADMIN_KEY. */
	readonly withoutKey?: boolean;
	/** Default: readyz answers 200. */
	readonly waitFor?: "ready" | "nothing";
}

/** A server in a process of its own, started through the command line. */
export interface Served {
	readonly url: string;
	readonly port: number;
	readonly dataDir: string;
	readonly configFile: string;
	readonly pid: number;
	readonly exited: Promise<number>;
	readonly stdout: () => string;
	readonly stderr: () => string;
	chat(body: object, init?: { signal?: AbortSignal; key?: string }): Promise<Response>;
	kill(signal: NodeJS.Signals): void;
	remove(): void;
}

export function temporaryFolder(): string {
	return mkdtempSync(join(tmpdir(), "turnpike-served-"));
}

export { freePort } from "./free-port.ts";

function cleanEnvironment(): Record<string, string> {
	return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("TURNPIKE_"))) as Record<
		string,
		string
	>;
}

/** Starts `turnpike serve` and waits until it is ready, or has exited. */
export async function serve(options: ServeOptions = {}): Promise<Served> {
	const dataDir = options.dataDir ?? temporaryFolder();
	const port = options.port ?? (await freePort());
	const configFile = join(dataDir, "turnpike.yaml");
	writeFileSync(configFile, JSON.stringify(options.config ?? {}));
	const child = Bun.spawn(
		[process.execPath, join(ROOT, "src/main.ts"), "serve", "--data", dataDir, "--port", String(port), "--config", configFile],
		{
			cwd: ROOT,
			env: {
				...cleanEnvironment(),
				...(options.withoutKey ? {} : { TURNPIKE_ADMIN_KEY: ADMIN_KEY }),
				BUN_CONFIG_MAX_HTTP_REQUESTS: "20000",
				...options.env,
			},
			stdin: "ignore",
			stdout: "pipe",
			stderr: "pipe",
		},
	);
	const out = collect(child.stdout);
	const err = collect(child.stderr);
	const url = `http://127.0.0.1:${port}`;
	let exited = false;
	const exit = child.exited.then(async (code) => {
		exited = true;
		await Promise.all([out.done, err.done]);
		return code;
	});
	if (options.waitFor !== "nothing") {
		await until(async () => exited || (await isReady(url)), "the server is ready").catch((error) => {
			throw new Error(`${error.message}: ${err.text()}`);
		});
	}
	return {
		url,
		port,
		dataDir,
		configFile,
		pid: child.pid,
		exited: exit,
		stdout: out.text,
		stderr: err.text,
		chat: (body, init = {}) =>
			fetch(`${url}/api/v1/chat/completions`, {
				method: "POST",
				headers: { authorization: `Bearer ${init.key ?? ADMIN_KEY}`, "content-type": "application/json" },
				body: JSON.stringify(body),
				...(init.signal ? { signal: init.signal } : {}),
			}),
		kill: (signal) => child.kill(signal),
		remove: () => {
			child.kill("SIGKILL");
			rmSync(dataDir, { recursive: true, force: true });
		},
	};
}

async function isReady(url: string): Promise<boolean> {
	try {
		return (await fetch(`${url}/readyz`)).ok;
	} catch {
		return false;
	}
}

function collect(stream: ReadableStream<Uint8Array>): { text: () => string; done: Promise<void> } {
	let text = "";
	const decoder = new TextDecoder();
	const done = (async () => {
		for await (const bytes of stream) text += decoder.decode(bytes, { stream: true });
	})();
	return { text: () => text, done };
}

/** Starts a command of `turnpike`. */
export function spawnTurnpike(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
	return Bun.spawn([process.execPath, join(ROOT, "src/main.ts"), ...args], {
		cwd: ROOT,
		env: { ...cleanEnvironment(), ...env },
		stdin: "ignore",
		stdout: "pipe",
		stderr: "pipe",
	});
}

/** Runs a command of the command line to its end. */
export async function turnpike(
	args: readonly string[],
	env: Readonly<Record<string, string>> = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
	const child = spawnTurnpike(args, env);
	const [stdout, stderr, code] = await Promise.all([
		new Response(child.stdout).text(),
		new Response(child.stderr).text(),
		child.exited,
	]);
	return { code, stdout, stderr };
}
