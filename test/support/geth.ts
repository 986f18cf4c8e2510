/** geth on a chain from files, for one test. It is not installed with the repository: docs/testing.md says how to get it. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { freePort } from "./free-port.ts";
import { WAIT_LIMIT_MS } from "./until.ts";

export interface Geth {
	readonly url: string;
	stop(): Promise<void>;
}

/** Its path, on PATH or where `go install` puts it; null where there is none. */
export function findGeth(): string | null {
	const file = process.platform === "win32" ? "geth.exe" : "geth";
	const goPath = process.env.GOPATH ?? join(homedir(), "go");
	const folders = [...(process.env.PATH ?? "").split(delimiter), process.env.GOBIN, join(goPath, "bin")];
	return folders.map((folder) => join(folder || ".", file)).find((path) => existsSync(path)) ?? null;
}

/** A token of the engine API (JWT, HS256, its only claim the time). */
function token(secret: Buffer): string {
	const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
	const signed = `${part({ alg: "HS256", typ: "JWT" })}.${part({ iat: Math.floor(Date.now() / 1_000) })}`;
	return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}

async function post(url: string, body: string, headers: Record<string, string> = {}): Promise<{ result?: unknown }> {
	const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json", ...headers }, body });
	return (await response.json()) as { result?: unknown };
}

/** Starts it with the genesis, the blocks and the head in `chainFolder`. */
export async function startGeth(program: string, chainFolder: string): Promise<Geth> {
	const folder = mkdtempSync(join(tmpdir(), "turnpike-geth-"));
	const store = ["--datadir", folder, "--state.scheme", "hash"];
	const archive = ["--gcmode", "archive", "--syncmode", "full"];
	const run = (args: readonly string[]) => {
		const done = spawnSync(program, [...store, ...args], { encoding: "utf8", timeout: WAIT_LIMIT_MS });
		if (done.status !== 0) throw new Error(`geth ${args.join(" ")}: ${done.stderr.slice(-2_000)}`);
	};
	let child: ChildProcess | null = null;
	const stop = async (): Promise<void> => {
		if (child !== null && child.exitCode === null) {
			const exited = new Promise((resolve) => child?.once("exit", resolve));
			child.kill("SIGKILL");
			await exited;
		}
		rmSync(folder, { recursive: true, force: true });
	};
	try {
		run(["init", join(chainFolder, "genesis.json")]);
		run([...archive, "import", join(chainFolder, "chain.rlp")]);
		const [port, enginePort] = [await freePort(), await freePort()];
		const secret = randomBytes(32);
		writeFileSync(join(folder, "jwt"), secret.toString("hex"));
		const alone = ["--nodiscover", "--maxpeers", "0", "--port", "0", "--ipcdisable"];
		const http = ["--http", "--http.port", `${port}`, "--http.api", "eth,net,web3,debug,txpool"];
		const engine = ["--authrpc.port", `${enginePort}`, "--authrpc.jwtsecret", join(folder, "jwt")];
		const running = spawn(program, [...store, ...archive, ...alone, ...http, ...engine], { stdio: "ignore" });
		child = running;
		const url = `http://127.0.0.1:${port}`;
		const head = readFileSync(join(chainFolder, "headfcu.json"), "utf8");
		const deadline = performance.now() + WAIT_LIMIT_MS;
		for (;;) {
			try {
				const headers = { authorization: `Bearer ${token(secret)}` };
				const { result } = await post(`http://127.0.0.1:${enginePort}`, head, headers);
				const { payloadStatus } = (result ?? {}) as { payloadStatus?: { status?: string } };
				if (payloadStatus?.status === "VALID") break;
				throw new Error(`the head was not taken: ${JSON.stringify(result)}`);
			} catch (error) {
				if (running.exitCode !== null || performance.now() > deadline) throw new Error("geth did not start", { cause: error });
			}
			await Bun.sleep(50);
		}
		return { url, stop };
	} catch (error) {
		await stop();
		throw error;
	}
}
