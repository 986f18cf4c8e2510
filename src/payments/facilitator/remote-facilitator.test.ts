import { afterAll, beforeAll, expect, test } from "bun:test";
import { systemTimers } from "../../telemetry/clock.ts";
import { networkNamed, solanaNamed } from "../networks.ts";
import { type Facilitator, FacilitatorUnavailable, facilitatorByNetwork, type SignedPayment } from "./port.ts";
import { RemoteFacilitator } from "./remote-facilitator.ts";

const payment: SignedPayment = {
	network: networkNamed("base"),
	payTo: "0x000000000000000000000000000000000000bEEF",
	signed: {
		kind: "authorization",
		authorization: {
			from: `0x${"1".repeat(40)}`,
			to: "0x000000000000000000000000000000000000beef",
			value: "7000000",
			validAfter: "0",
			validBefore: "2",
			nonce: `0x${"2".repeat(64)}`,
		},
		signature: "0x12",
	},
};
const HASH = `0x${"Ab".repeat(32)}`;

let answer: () => Response | Promise<Response>;
let asked: { path: string; body: Record<string, never>; header: string | null };
let server: ReturnType<typeof Bun.serve>;

beforeAll(() => {
	server = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		async fetch(request) {
			const { pathname: path } = new URL(request.url);
			asked = { path, body: (await request.json()) as never, header: request.headers.get("x-token") };
			return answer();
		},
	});
});
afterAll(() => server.stop(true));

const facilitator = (timeoutMs = 5_000) =>
	new RemoteFacilitator({
		url: `http://127.0.0.1:${server.port}/base/`,
		headers: { "x-token": "t" },
		timeoutMs,
		timers: systemTimers,
	});

test("it gets one shape, and the signed amount is what it is held against", async () => {
	answer = () => Response.json({ isValid: true });
	expect((await facilitator().verify(payment)).valid).toBe(true);
	expect(asked).toMatchObject({ path: "/base/verify", header: "t" });
	expect(asked.body).toMatchObject({
		x402Version: 2,
		paymentRequirements: { amount: "7000000", network: "eip155:8453" },
		paymentPayload: { x402Version: 2, accepted: { amount: "7000000" }, payload: { signature: "0x12" } },
	} as never);
});

test("a verdict is one with any status below 500, also a failure within a 200", async () => {
	answer = () => Response.json({ isValid: false, invalidReason: "a\nb" }, { status: 400 });
	expect(await facilitator().verify(payment)).toEqual({ valid: false, reason: "a b" });
	answer = () => Response.json({ success: false, errorReason: "settlement_pending", transaction: HASH });
	expect(await facilitator().settle(payment)).toEqual({
		success: false,
		reason: "settlement_pending",
		transaction: HASH.toLowerCase(),
	});
	answer = () => Response.json({ success: true, transaction: "" });
	expect(await facilitator().settle(payment)).toEqual({ success: true, reason: null, transaction: null });
});

test("what cannot be read is no verdict", async () => {
	const answers = [
		() => Response.json({ isValid: true, success: true }, { status: 500 }),
		() => Response.json({ isValid: true, success: true }, { status: 429 }),
		() => Response.json({ error: "who are you" }, { status: 401 }),
		() => Response.json({ isValid: "yes", success: "yes" }),
		() => Response.json(null),
		() => new Response("<html>"),
		() => new Response("x".repeat(70_000)),
		() => new Response(endless()),
		...[301, 302, 303, 307, 308].map((status) => () => {
			answer = () => Response.json({ isValid: true, success: true });
			return new Response(null, { status, headers: { location: "/elsewhere" } });
		}),
	];
	for (const one of answers) {
		answer = one;
		await expect(facilitator().verify(payment)).rejects.toBeInstanceOf(FacilitatorUnavailable);
		answer = one;
		await expect(facilitator().settle(payment)).rejects.toBeInstanceOf(FacilitatorUnavailable);
	}
	const { promise: ended, resolve: end } = Promise.withResolvers<void>();
	answer = () => ended.then(() => new Response());
	await expect(facilitator(50).settle(payment)).rejects.toBeInstanceOf(FacilitatorUnavailable);
	end();
});

/** Returns JSON that never ends. */
function endless(): ReadableStream {
	const piece = new TextEncoder().encode('{"isValid": true, "success": true, "a": 1},'.repeat(1_000));
	return new ReadableStream({ pull: (controller) => controller.enqueue(piece) });
}

test("each network has its own facilitator", async () => {
	const named = (name: string): Facilitator => ({
		name,
		verify: async () => ({ valid: false, reason: name }),
		settle: async () => ({ success: false, transaction: null, reason: name }),
	});
	const both = facilitatorByNetwork(named("evm"), named("solana"));
	expect(both.name).toBe("evm, solana");
	expect((await both.verify(payment)).reason).toBe("evm");
	const onSolana = { ...payment, network: solanaNamed("solana") };
	expect((await both.verify(onSolana)).reason).toBe("solana");
	expect((await both.settle(onSolana, async () => {})).reason).toBe("solana");
});

test("a settlement on Solana is named as that chain names its transactions", async () => {
	const signature = "54SzqNzs9U2t2xzunzZ4AuuiUVRMADUFSbkugm3ZxcemvF9cWGMMmRBcpV5u7zgVdFXL3czssyKWZGGbvMTkXx1s";
	const onSolana = { ...payment, network: solanaNamed("solana") };
	answer = () => Response.json({ success: true, transaction: signature });
	expect((await facilitator().settle(onSolana)).transaction).toBe(signature);
	expect((await facilitator().settle(payment)).transaction).toBeNull();
	answer = () => Response.json({ success: true, transaction: HASH });
	expect((await facilitator().settle(onSolana)).transaction).toBeNull();
});
