import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { callOf, itemOf, rpcUpstreams } from "../../../test/support/rpc-calls.ts";
import { type ChainBehaviour, startScriptedChain } from "../../../test/support/scripted-chain.ts";
import { until } from "../../../test/support/until.ts";
import { RpcCallError } from "./port.ts";

const CALLS = 600;
const AT_ONCE = 40;
const LONG = "a".repeat(600_000);

/** Ways to answer, good and bad, big and slow. */
const BEHAVIOURS: readonly ChainBehaviour[] = [
	{},
	{},
	{},
	{ delayMs: 15 },
	{ hang: true },
	{ reset: true },
	{ status: 502, raw: "<p>" },
	{ status: 429, raw: "" },
	{ raw: "" },
	{ closeMidBody: true },
	{ pieces: 7 },
	{ pack: { encoding: "gzip", with: (body) => gzipSync(body) } },
	{ answer: ({ items, isArray }) => (isArray ? [] : { id: items[0]?.id, result: LONG }) },
	{ answer: ({ items, isArray }) => (isArray ? items.slice(1).map(({ id }) => ({ id, result: 1 })) : {}) },
];

test("whatever upstreams and callers do, every call ends once and no place is lost", async () => {
	let seed = 42;
	const draw = (below: number) => {
		seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
		return Math.floor((seed / 2 ** 32) * below);
	};
	const nodes = await Promise.all([startScriptedChain(), startScriptedChain(), startScriptedChain()]);
	for (const node of nodes) node.always(() => BEHAVIOURS[draw(BEHAVIOURS.length)] ?? {});
	const upstreams = await rpcUpstreams(
		nodes.map(({ url }) => ({ url, order: 0, maxConcurrent: 30 })),
		{ timeouts: { rpcMs: 300, rpcSlowMs: 300 }, random: () => draw(1_000) / 1_000 },
	);
	const ends = { answered: 0, failed: 0, left: 0 };
	const one = async (): Promise<void> => {
		const controller = new AbortController();
		const leaves = draw(8) === 0;
		const timer = leaves ? setTimeout(() => controller.abort(new Error("left")), draw(30)) : undefined;
		const more = { signal: controller.signal };
		const send = itemOf("eth_sendRawTransaction", ["0x"], `0x${"ab".repeat(32)}`);
		try {
			if (draw(3) === 0)
				await upstreams.batch(callOf([itemOf("eth_call"), itemOf("eth_getLogs"), ...(draw(2) ? [send] : [])], more));
			else {
				const { outcome } = await upstreams.single(callOf(draw(4) === 0 ? send : itemOf("eth_call"), more));
				if ("cancel" in outcome) {
					if (draw(3) === 0) outcome.cancel();
					else await new Response(outcome.value).bytes();
				}
			}
			ends.answered++;
		} catch (error) {
			if (controller.signal.aborted) ends.left++;
			else {
				if (!(error instanceof RpcCallError)) expect(String(error)).toMatch(/answer/);
				ends.failed++;
			}
		} finally {
			clearTimeout(timer);
		}
	};
	let started = 0;
	const worker = async (): Promise<void> => {
		while (started++ < CALLS) await one();
	};
	await Promise.all(Array.from({ length: AT_ONCE }, worker));
	expect(ends.answered + ends.failed + ends.left).toBe(CALLS);
	// How many are in time is a matter of the machine.
	expect(ends.answered).toBeGreaterThan(0);
	await until(() => upstreams.snapshot()[0]?.upstreams.every(({ running }) => running === 0) === true);
	for (const node of nodes) node.always({});
	await until(() => upstreams.online().length === 1);
	expect((await upstreams.single(callOf(itemOf("eth_call")))).outcome.kind).toBe("result");
	upstreams.close();
	await Promise.all(nodes.map((node) => node.stop()));
});
