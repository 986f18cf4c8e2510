/** cast as it is published. Skipped where its package has no program for this machine. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createRequire } from "node:module";
import { ALLOWED, COUNTER_BYTECODE } from "../support/counter-contract/index.ts";
import { CHAIN_ID, type ClientChain, RECEIVER, SENDER, SENDER_KEY, startClientChain } from "./rpc-fixture.ts";

function castProgram(): string | null {
	const machine = `${process.platform === "win32" ? "win32" : process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
	const { resolve } = createRequire(import.meta.url);
	try {
		const paths = [resolve("@foundry-rs/cast/package.json")];
		return resolve(`@foundry-rs/cast-${machine}/bin/${process.platform === "win32" ? "cast.exe" : "cast"}`, { paths });
	} catch {
		return null;
	}
}

const program = castProgram();
if (program === null) console.log(`cast has no program for ${process.platform} ${process.arch}: its tests are skipped.`);

describe.skipIf(program === null)("cast", () => {
	let fixture: ClientChain;
	let counter = "";

	/** Runs it with the key in a header; throws with what it complained. */
	async function cast(...args: readonly string[]): Promise<string> {
		const env = { ETH_RPC_URL: fixture.url, ETH_RPC_HEADERS: `Authorization: Bearer ${fixture.key.secret}`, NO_PROXY: "*" };
		const child = Bun.spawn([program ?? "", ...args], {
			stdout: "pipe",
			stderr: "pipe",
			env: { ...process.env, ...env },
		});
		const [output, complaint] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
		if ((await child.exited) !== 0) throw new Error(complaint);
		return output.trim();
	}
	const send = async (...args: readonly string[]) =>
		JSON.parse(await cast("send", "--json", "--private-key", SENDER_KEY, ...args)) as {
			readonly status: string;
			readonly blockNumber: string;
			readonly contractAddress: string | null;
		};

	beforeAll(async () => {
		fixture = await startClientChain();
		counter = (await send("--create", COUNTER_BYTECODE)).contractAddress ?? "";
	});
	afterAll(() => fixture.stop());

	test("reads", async () => {
		expect(await cast("chain-id")).toBe(String(CHAIN_ID));
		expect(await cast("block", "0", "--field", "number")).toBe("0");
		expect(await cast("balance", RECEIVER)).toBe("0");
	});

	test("sends value and waits for the receipt", async () => {
		expect((await send(RECEIVER, "--value", "0.5ether")).status).toBe("0x1");
		expect(await cast("balance", RECEIVER, "--ether")).toBe("0.500000000000000000");
	});

	test("writes to a contract, estimates, and finds the event in the logs", async () => {
		const add = "add(uint256)(uint256)";
		expect(Number(await cast("estimate", counter, add, "7", "--from", SENDER))).toBeGreaterThan(21_000);
		const { blockNumber } = await send(counter, add, "7");
		const block = String(Number(blockNumber));
		const event = "Added(address indexed by, uint256 amount, uint256 sum)";
		const found = await cast("logs", event, "--address", counter, "--from-block", block, "--to-block", block, "--json");
		expect(JSON.parse(found)).toEqual([expect.objectContaining({ address: counter.toLowerCase(), blockNumber })]);
		expect(await cast("call", counter, "sum()(uint256)")).toBe("7");
	});

	test("tells why a call was reverted", async () => {
		const call = (amount: bigint) => cast("call", counter, "add(uint256)(uint256)", String(amount), "--from", SENDER);
		const word = (value: bigint) => value.toString(16).padStart(64, "0");
		await expect(call(ALLOWED + 1n)).rejects.toThrow(word(ALLOWED + 1n) + word(ALLOWED));
		await expect(call(0n)).rejects.toThrow("nothing to add");
	});
});
