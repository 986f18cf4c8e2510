import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { systemClock, systemTimers } from "../telemetry/clock.ts";
import { silentLog } from "../telemetry/log.ts";
import { ChainUnavailable, JsonRpc } from "./chain/json-rpc.ts";
import { limitedText } from "./exchange.ts";
import { FeePayer } from "./solana/fee-payer.ts";

const NETWORK = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
const PAYER = "2nsTvzEaa2gxYbTzcUAAJ2r5jk6YEnsKwd9d84mAt5qU";
const KINDS = { kinds: [{ x402Version: 2, scheme: "exact", network: NETWORK, extra: { feePayer: PAYER } }] };

/** A server that redirects everything to itself, where it would answer. */
let server: ReturnType<typeof Bun.serve>;
let reached: string[];

beforeAll(() => {
	server = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		fetch(request) {
			const { pathname } = new URL(request.url);
			reached.push(pathname);
			if (pathname.startsWith("/moved")) return new Response(null, { status: 307, headers: { location: "/elsewhere" } });
			return Response.json({ jsonrpc: "2.0", id: 1, result: "0x1", ...KINDS });
		},
	});
});
beforeEach(() => {
	reached = [];
});
afterAll(() => server.stop(true));

const rpc = (path: string) =>
	new JsonRpc({ url: `http://127.0.0.1:${server.port}${path}`, timeoutMs: 5_000, timers: systemTimers });
const feePayer = (path: string) =>
	new FeePayer({
		configured: undefined,
		url: `http://127.0.0.1:${server.port}${path}`,
		headers: { "x-token": "t" },
		network: NETWORK,
		timeoutMs: 5_000,
		clock: systemClock,
		timers: systemTimers,
		log: silentLog,
	});

test("a node is asked at its own address alone", async () => {
	expect(await rpc("/own").call("eth_chainId", [])).toBe("0x1");
	await expect(rpc("/moved").call("eth_chainId", [])).rejects.toBeInstanceOf(ChainUnavailable);
	expect(reached).toEqual(["/own", "/moved"]);
});

test("who pays the fees is asked at the facilitator's own address alone", async () => {
	const own = feePayer("/own");
	await own.refresh();
	expect(own.current()).toBe(PAYER);
	const moved = feePayer("/moved");
	await moved.refresh();
	expect(moved.current()).toBeNull();
	expect(reached).toEqual(["/own/supported", "/moved/supported"]);
});

test("of a body that is too long no more is read", async () => {
	expect(await limitedText(new Response("12345678"), 8)).toBe("12345678");
	let pieces = 0;
	let left = false;
	const endless = new ReadableStream({
		pull(controller) {
			pieces += 1;
			controller.enqueue(new Uint8Array(1024));
		},
		cancel() {
			left = true;
		},
	});
	expect(await limitedText(new Response(endless), 8 * 1024)).toBeNull();
	expect(left).toBe(true);
	expect(pieces).toBeLessThan(16);
});
