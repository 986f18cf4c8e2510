/**
 * Answers of 50 MB through a server in a process of its own: whatever its callers and upstreams do, its memory stays
 * in bounds. Linux only: that is where a process tells its peak.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { peakMbSince, resetPeak } from "../../bench/peak-memory.ts";
import { request } from "../support/rpc-gateway.ts";
import { type ScriptedChain, startScriptedChain } from "../support/scripted-chain.ts";
import { ADMIN_KEY, type Served, serve, turnpike } from "../support/served.ts";
import { until } from "../support/until.ts";

const PIECE = Buffer.from(`"0x${"ab".repeat(32 * 1024)}",`);
const PIECES = Math.ceil((50 * 1024 * 1024) / PIECE.length);
/** Of two answers at once, which have 100 MB. A few MB where the machine has time. */
const MOST_MB = 60;
/** What has ended early waits for the collector, a few MB each time: over many times it comes to a bound. */
const TIMES = 40;
const MOST_WAITING_MB = 200;

describe.skipIf(process.platform !== "linux")("an answer of 50 MB", () => {
	let chain: ScriptedChain;
	let server: Served;
	/** Pieces that the node handed to its socket, in the answer that it wrote to last. */
	let made = 0;
	let turn = 0;

	const path = "/api/v1/crypto/rpc/ethereum-mainnet";
	/** Another block each time, so that no two calls are one. */
	const body = () => JSON.stringify(request("eth_getLogs", [{ fromBlock: `0x${(++turn).toString(16)}`, toBlock: "latest" }]));
	const headers = { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" };
	const ask = (signal?: AbortSignal) =>
		fetch(`${server.url}${path}`, { method: "POST", headers, body: body(), ...(signal ? { signal } : {}) });

	/** From here on the node answers with so many pieces, and ends well or not at all. */
	function answerWith(pieces: number, end: string): void {
		chain.always(({ items }) => ({
			stream: function* () {
				yield Buffer.from(`{"jsonrpc":"2.0","id":${items[0]?.id},"result":[`);
				made = 0;
				for (let count = 0; count < pieces; count++) {
					made = count + 1;
					yield PIECE;
				}
				yield Buffer.from(end);
			},
		}));
	}

	async function bytesOf(response: Response): Promise<number> {
		let length = 0;
		for await (const piece of response.body ?? []) length += piece.length;
		return length;
	}

	/** A caller on a bare socket, which reads nothing before it is told to. */
	async function slowCaller(): Promise<Socket> {
		const socket = connect(server.port, "127.0.0.1");
		await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
		socket.pause();
		const text = body();
		const lines = [`POST ${path} HTTP/1.1`, "Host: x", ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)];
		socket.write(`${[...lines, `Content-Length: ${text.length}`, "Connection: close"].join("\r\n")}\r\n\r\n${text}`);
		return socket;
	}

	/** Resolves when the node writes no more: everything between it and the caller is full. */
	async function standsStill(): Promise<void> {
		let [seen, still] = [-1, 0];
		await until(() => {
			still = made > 0 && made === seen ? still + 1 : 0;
			seen = made;
			return still >= 30;
		}, "an answer that stands still");
	}

	/** How far the server's memory rises while something is done. */
	async function growthMb(work: () => Promise<void>): Promise<number> {
		const baseMb = resetPeak(server.pid);
		await work();
		return peakMbSince(server.pid, baseMb);
	}

	beforeAll(async () => {
		chain = await startScriptedChain();
		server = await serve({ env: { TURNPIKE_RPC_ETHEREUM_MAINNET: chain.url } });
		// What a server has of its first answers is no growth.
		answerWith(PIECES, "0]}");
		for (let count = 0; count < 3; count++) expect(await bytesOf(await ask())).toBeGreaterThan(PIECES * PIECE.length);
	});
	afterAll(async () => {
		server.remove();
		await chain.stop();
	});

	test("passes through a slow reader without being held", async () => {
		answerWith(PIECES, "0]}");
		let atRest = 0;
		const growth = await growthMb(async () => {
			const callers = [await slowCaller(), await slowCaller()];
			await standsStill();
			atRest = made;
			let length = 0;
			await Promise.all(
				callers.map((socket) => {
					socket.on("data", (piece) => {
						length += piece.length;
					});
					socket.resume();
					return new Promise((resolve) => socket.once("close", resolve));
				}),
			);
			expect(length).toBeGreaterThan(2 * PIECES * PIECE.length);
		});
		expect(atRest).toBeLessThan(PIECES / 2);
		expect(growth).toBeLessThan(MOST_MB);
	});

	test("is given up where its reader leaves in the middle, and its memory is used again", async () => {
		answerWith(PIECES, "0]}");
		const growth = await growthMb(async () => {
			for (let count = 0; count < TIMES; count++) {
				const socket = await slowCaller();
				await standsStill();
				socket.destroy();
				await until(() => chain.requests.at(-1)?.isAborted === true, "the node's answer to be given up");
			}
		});
		expect(made).toBeLessThan(PIECES);
		expect(growth).toBeLessThan(MOST_WAITING_MB);
	});

	test("that breaks off is a reset connection, and its memory is used again", async () => {
		answerWith(PIECES, '"cut');
		const growth = await growthMb(async () => {
			for (let count = 0; count < TIMES; count++) {
				const end = await ask()
					.then(bytesOf)
					.then(
						() => "whole",
						() => "cut",
					);
				expect(end).toBe("cut");
			}
		});
		expect(growth).toBeLessThan(MOST_WAITING_MB);
	});

	test("leaves clean books", async () => {
		server.kill("SIGTERM");
		expect(await server.exited).toBe(0);
		const audit = await turnpike(["audit", "--data", server.dataDir]);
		expect([audit.code, audit.stderr]).toEqual([0, ""]);
	});
});
