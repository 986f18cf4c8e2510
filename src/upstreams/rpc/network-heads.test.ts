import { afterEach, describe, expect, test } from "bun:test";
import { callOf, fastClock, itemOf, rpcUpstreams } from "../../../test/support/rpc-calls.ts";
import { type ScriptedChain, startScriptedChain } from "../../../test/support/scripted-chain.ts";
import { until } from "../../../test/support/until.ts";
import type { RpcFinality } from "./head-port.ts";
import type { RunningRpcUpstreams } from "./upstreams.ts";

const open: (ScriptedChain | RunningRpcUpstreams)[] = [];
afterEach(async () => {
	for (const part of open.splice(0)) await ("stop" in part ? part.stop() : part.close());
});

const SLUG = "ethereum-mainnet";

interface Heights {
	latest: number;
	finalized: number | null;
	/** Which chain its blocks are of: they have hashes then. */
	chain?: string;
}

async function chainAt(heights: Heights): Promise<ScriptedChain> {
	const chain = await startScriptedChain();
	open.push(chain);
	chain.result("eth_blockNumber", () => `0x${heights.latest.toString(16)}`);
	chain.result("eth_getBlockByNumber", (params: unknown) => {
		const [named] = params as readonly string[];
		const block = named === "finalized" ? heights.finalized : Number(named);
		if (block === null || block > heights.latest) return null;
		const number = `0x${block.toString(16)}`;
		return heights.chain === undefined ? { number } : { number, hash: `0x${heights.chain}${block}` };
	});
	return chain;
}

async function watched(chains: readonly ScriptedChain[]) {
	const clock = fastClock(5);
	const upstreams = await rpcUpstreams(
		chains.map(({ url }, index) => ({ url, name: "abc"[index] ?? "", order: 0 })),
		{ clock, timeouts: { rpcMs: 600_000, rpcSlowMs: 600_000 } },
	);
	open.push(upstreams);
	const told: (RpcFinality | null)[] = [];
	upstreams.heads.onFinality((network, finality) => {
		expect(network).toBe(SLUG);
		expect(upstreams.heads.finality(SLUG)).toBe(finality);
		told.push(finality);
	});
	await upstreams.single(callOf(itemOf("eth_call")));
	return { clock, upstreams, told, use: () => upstreams.single(callOf(itemOf("eth_call"))) };
}

test("final is what the most careful upstream says, and it goes back when that one goes back", async () => {
	const [a, b] = [
		{ latest: 100, finalized: 60 },
		{ latest: 101, finalized: 64 },
	];
	const { upstreams, told } = await watched([await chainAt(a), await chainAt(b)]);
	const block = () => upstreams.heads.finality(SLUG)?.block;
	await until(() => block() === 60);
	a.finalized = 80;
	await until(() => block() === 64);
	b.finalized = 50;
	await until(() => block() === 50);
	expect(told.map((finality) => finality?.block)).toContain(64);
});

test("an upstream that has not seen the final block is not named", async () => {
	const [a, b] = [
		{ latest: 100, finalized: 90 },
		{ latest: 80, finalized: null },
	] as [Heights, Heights];
	const { upstreams } = await watched([await chainAt(a), await chainAt(b)]);
	const names = () => [...(upstreams.heads.finality(SLUG)?.upstreams ?? [])];
	await until(() => names().length > 0);
	expect(names()).toEqual(["a"]);
	b.latest = 95;
	await until(() => names().length === 2);
});

test("an upstream that does not tell has no say, and where none tells nothing is final", async () => {
	const a: Heights = { latest: 100, finalized: null };
	const chain = await chainAt(a);
	const { upstreams, told } = await watched([chain]);
	await until(() => chain.probes >= 6);
	expect(upstreams.heads.finality(SLUG)).toBeNull();
	expect(told).toEqual([]);
});

test("a network that nobody calls is asked no more, and what it told is forgotten", async () => {
	const chain = await chainAt({ latest: 100, finalized: 90 });
	const { clock, upstreams, told, use } = await watched([chain]);
	await until(() => upstreams.heads.finality(SLUG)?.block === 90);
	clock.jump(300_000);
	await until(() => upstreams.heads.finality(SLUG) === null);
	const { probes } = chain;
	await Bun.sleep(100);
	expect(chain.probes).toBe(probes);
	await use();
	await until(() => upstreams.heads.finality(SLUG)?.block === 90);
	expect(told.at(-2)).toBeNull();
});

test("an upstream that is far behind goes last", async () => {
	const [a, b] = [
		{ latest: 100, finalized: null },
		{ latest: 100, finalized: null },
	];
	const [first, second] = [await chainAt(a), await chainAt(b)];
	const { upstreams, use } = await watched([first, second]);
	a.latest = 120;
	b.latest = 200;
	const reached = () => upstreams.snapshot()[0]?.upstreams.map((member) => member.reached);
	await until(() => Bun.deepEquals(reached(), [120, 200]));
	second.requests.length = 0;
	for (let count = 0; count < 20; count++) await use();
	// The other one is asked as well where this one is slow.
	expect(second.requests).toHaveLength(20);
});

test("nobody is asked where nobody wants to know", async () => {
	const chain = await chainAt({ latest: 100, finalized: 90 });
	const upstreams = await rpcUpstreams([chain.url]);
	open.push(upstreams);
	const { probes } = chain;
	await upstreams.single(callOf(itemOf("eth_call")));
	await upstreams.single(callOf(itemOf("eth_call")));
	expect(chain.probes).toBe(probes);
});

describe("where blocks have hashes", () => {
	const begun = async () => {
		const heights: Heights = { latest: 100, finalized: 60, chain: "a" };
		const running = await watched([await chainAt(heights)]);
		const blocks = () => running.told.map((finality) => finality?.block ?? null);
		await until(() => blocks().at(-1) === 60);
		heights.finalized = 70;
		await until(() => blocks().at(-1) === 70);
		return { ...running, heights, blocks };
	};

	test("another chain with the same final number leaves nothing final for a moment", async () => {
		const { heights, blocks } = await begun();
		heights.chain = "b";
		await until(() => blocks().length === 4);
		expect(blocks()).toEqual([60, 70, -1, 70]);
	});

	test("so does one that has grown past it, one that went back, and one that has none of what was final", async () => {
		for (const [latest, finalized] of [
			[200, 160],
			[100, 65],
			[5, 0],
		] as const) {
			const { heights, blocks } = await begun();
			Object.assign(heights, { latest, finalized, chain: "b" });
			await until(() => blocks().length === 4);
			expect(blocks()).toEqual([60, 70, -1, finalized]);
		}
	});

	test("and one that took its place while nobody called", async () => {
		const { clock, heights, blocks, use } = await begun();
		clock.jump(300_000);
		await until(() => blocks().at(-1) === null);
		Object.assign(heights, { latest: 200, finalized: 160, chain: "b" });
		await use();
		await until(() => blocks().length === 5);
		expect(blocks()).toEqual([60, 70, null, -1, 160]);
	});

	test("the same chain goes back and forward as it is told", async () => {
		const { heights, blocks } = await begun();
		for (const finalized of [65, 60, 90]) {
			heights.finalized = finalized;
			await until(() => blocks().at(-1) === finalized);
		}
		expect(blocks()).toEqual([60, 70, 65, 60, 90]);
	});
});
