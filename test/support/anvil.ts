/** A real chain for one test: anvil on a free port of the loopback address, its time set by the test. */
import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { freePort } from "./free-port.ts";
import { WAIT_LIMIT_MS } from "./until.ts";

export interface Anvil {
	readonly url: string;
	/** One JSON-RPC call; throws with the node's error. */
	rpc<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>;
	/** Ends the process at once; `start` brings an empty chain up on the same port. */
	kill(): Promise<void>;
	start(): Promise<void>;
}

export interface AnvilOptions {
	readonly chainId?: number;
	/** Unix seconds of block 0. */
	readonly genesisSeconds?: number;
	/** True: a transaction waits for the next block that the test mines; else it has its own at once. */
	readonly minedByHand?: boolean;
}

export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
	const { chainId = 8453, genesisSeconds, minedByHand = false } = options;
	const machine = `${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
	const file = process.platform === "win32" ? "anvil.exe" : "anvil";
	const program = createRequire(import.meta.url).resolve(`@foundry-rs/anvil-${machine}/bin/${file}`, {
		paths: [createRequire(import.meta.url).resolve("@foundry-rs/anvil/package.json")],
	});
	const port = await freePort();
	const url = `http://127.0.0.1:${port}`;
	const more = [
		...(genesisSeconds === undefined ? [] : ["--timestamp", `${genesisSeconds}`]),
		...(minedByHand ? ["--no-mining"] : []),
	];
	let child: ChildProcess | null = null;
	const rpc: Anvil["rpc"] = async (method, params = []) => {
		const response = await fetch(url, {
			method: "POST",
			headers: { "content-type": "application/json" },
			body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
		});
		const { result, error } = (await response.json()) as { result: never; error?: { message: string } };
		if (error !== undefined) throw new Error(`${method}: ${error.message}`);
		return result;
	};
	const kill = async (): Promise<void> => {
		const running = child;
		child = null;
		if (running === null || running.exitCode !== null) return;
		const exited = new Promise((resolve) => running.once("exit", resolve));
		running.kill("SIGKILL");
		await exited;
	};
	const start = async (): Promise<void> => {
		const args = ["--chain-id", `${chainId}`, "--port", `${port}`, "--host", "127.0.0.1", "--silent", ...more];
		const running = spawn(program, args, { stdio: "ignore" });
		child = running;
		const deadline = performance.now() + WAIT_LIMIT_MS;
		for (;;) {
			try {
				await rpc("eth_chainId");
				return;
			} catch (error) {
				if (running.exitCode !== null || performance.now() > deadline) {
					await kill();
					throw new Error("anvil did not start", { cause: error });
				}
			}
			await Bun.sleep(20);
		}
	};
	await start();
	return { url, rpc, kill, start };
}
