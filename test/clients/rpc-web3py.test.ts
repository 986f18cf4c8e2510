/** web3.py as it is published: one script does all calls. Skipped on a machine without Python (`npm test` says so). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { encodeErrorResult, parseEther } from "viem";
import { ALLOWED, COUNTER_ABI, COUNTER_BYTECODE } from "../support/counter-contract/index.ts";
import { CHAIN_ID, type ClientChain, RECEIVER, SENDER, SENDER_KEY, startClientChain } from "./rpc-fixture.ts";

const ROOT = join(import.meta.dir, "../..");
const hasPython = ["python3", "python", "py"].some((name) => spawnSync(name, ["-c", "import venv, ensurepip"]).status === 0);

/** What rpc_web3_client.py writes. */
interface Report {
	readonly chainId: number;
	readonly connected: boolean;
	readonly paid: object;
	readonly estimate: number;
	readonly logs: unknown[];
	readonly sum: number;
	readonly customError: string;
	readonly reason: string;
	readonly batch: number[];
}

describe.skipIf(!hasPython)("web3.py", () => {
	let fixture: ClientChain;
	let report: Report;

	beforeAll(async () => {
		const made = spawnSync("node", ["scripts/python-web3.mjs"], { cwd: ROOT, encoding: "utf8" });
		if (made.status !== 0) throw new Error(made.stderr);
		fixture = await startClientChain();
		const given = {
			url: fixture.url,
			key: fixture.key.secret,
			senderKey: SENDER_KEY,
			receiver: RECEIVER,
			abi: COUNTER_ABI,
			bytecode: COUNTER_BYTECODE,
		};
		const child = Bun.spawn([made.stdout.trim(), join(import.meta.dir, "rpc_web3_client.py")], {
			stdin: new Blob([JSON.stringify(given)]),
			stdout: "pipe",
			stderr: "pipe",
			env: { ...process.env, NO_PROXY: "*" },
		});
		const [output, complaint] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
		if ((await child.exited) !== 0) throw new Error(complaint);
		report = JSON.parse(output) as Report;
	});
	afterAll(() => fixture.stop());

	test("reads, alone and in a batch", () => {
		expect([report.chainId, report.connected, report.batch]).toEqual([CHAIN_ID, true, [0, 1, 2]]);
	});

	test("sends value and waits for the receipt", () => {
		expect(report.paid).toEqual({ status: 1, balance: String(parseEther("0.5")) });
	});

	test("writes to a contract, estimates, and finds the event in the logs", () => {
		expect(report.estimate).toBeGreaterThan(21_000);
		expect([report.logs, report.sum]).toEqual([[[SENDER, 7]], 7]);
	});

	test("tells why a call was reverted", () => {
		const args = [ALLOWED + 1n, ALLOWED];
		expect(report.customError).toBe(encodeErrorResult({ abi: COUNTER_ABI, errorName: "TooMuch", args }));
		expect(report.reason).toContain("nothing to add");
	});
});
