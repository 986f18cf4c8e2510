import { afterEach, expect, test } from "bun:test";
import { callOf, fastClock, itemOf, rpcConfig, rpcUpstreams, textOf } from "../../../test/support/rpc-calls.ts";
import { type ScriptedChain, startScriptedChain } from "../../../test/support/scripted-chain.ts";
import { until } from "../../../test/support/until.ts";
import { ConfigError } from "../../config/index.ts";
import type { Log } from "../../telemetry/log.ts";
import { systemTimerClock } from "../../telemetry/timer-clock.ts";
import type { RunningRpcUpstreams } from "./upstreams.ts";

const open: (ScriptedChain | RunningRpcUpstreams)[] = [];
afterEach(async () => {
	for (const part of open.splice(0)) await ("stop" in part ? part.stop() : part.close());
});

async function chain(chainId?: string): Promise<ScriptedChain> {
	const started = await startScriptedChain(chainId);
	open.push(started);
	return started;
}

async function over(...args: Parameters<typeof rpcUpstreams>): Promise<RunningRpcUpstreams> {
	const running = await rpcUpstreams(...args);
	open.push(running);
	return running;
}

const call = (method = "eth_call") => callOf(itemOf(method));

function keptLog(): Log & { readonly errors: string[] } {
	const errors: string[] = [];
	return { debug() {}, info() {}, warn() {}, error: (_, message) => void errors.push(message), level: "error", errors };
}

/** A third of it is what a call waits for one upstream where nothing is learned: longer than these tests allow. */
const PATIENT = { timeouts: { rpcMs: 60_000, rpcSlowMs: 60_000 } };

test("thousands of faults are a few lines in the log", async () => {
	const node = await chain();
	const lines: object[] = [];
	const log = { ...keptLog(), warn: (fields: object) => void lines.push(fields) };
	let nowMs = 0;
	const upstreams = await over([node.url], { log, clock: { monotonicMs: () => nowMs, after: systemTimerClock.after } });
	lines.length = 0;
	node.always({ status: 429, raw: "" });
	const call429 = () => upstreams.single(call()).catch(() => {});
	for (let count = 0; count < 50; count++) await call429();
	expect(lines).toHaveLength(1);
	nowMs = 1_000;
	await call429();
	expect(lines).toMatchObject([{ kind: "busy", detail: "status 429" }, { untold: 49 }]);
});

test("a Starknet node is known by its own methods", async () => {
	const node = await chain("0x534e5f4d41494e");
	const upstreams = await over([], {
		config: rpcConfig({ "starknet-mainnet": [{ url: node.url }], "starknet-sepolia": [{ url: node.url }] }),
	});
	expect(upstreams.online()).toEqual(["starknet-mainnet"]);
	const network = upstreams.network("starknet-mainnet");
	if (network === undefined) throw new Error("no network");
	const { outcome } = await upstreams.single({ ...callOf(itemOf("starknet_getNonce", { block_id: "latest" })), network });
	expect(outcome.kind).toBe("result");
	expect(node.requests[0]?.items[0]?.params).toEqual({ block_id: "latest" });
});

test("an upstream that hangs makes few requests slow, is learned, and comes back only after a good probe", async () => {
	const [hanging, good] = [await chain(), await chain()];
	const upstreams = await over([hanging.url, good.url], PATIENT);
	hanging.always({ hang: true });
	hanging.probesGet({ status: 503, raw: "" });
	let [slow, failed] = [0, 0];
	for (let count = 0; count < 200; count++) {
		const { outcome } = await upstreams.single(call()).catch(() => ({ outcome: null }));
		if (outcome === null) failed++;
		slow = Math.max(slow, hanging.requests.length);
	}
	expect(failed).toBe(0);
	expect(slow).toBeLessThanOrEqual(5);
	expect(upstreams.snapshot()[0]?.upstreams[0]).toMatchObject({ state: "out" });
	expect(hanging.requests).toHaveLength(slow);

	hanging.always({});
	hanging.probesGet(null);
	await until(() => upstreams.snapshot()[0]?.upstreams[0]?.state === "trial");
	await upstreams.single(call());
	expect(upstreams.snapshot()[0]?.upstreams[0]).toMatchObject({ state: "up" });
	expect(hanging.requests).toHaveLength(slow + 1);
});

test("requests that wait for an upstream do not wait on when it is taken out", async () => {
	const [hanging, good] = [await chain(), await chain()];
	const upstreams = await over([hanging.url, good.url], PATIENT);
	hanging.always({ hang: true });
	const answers = await Promise.all(Array.from({ length: 64 }, () => upstreams.single(call())));
	expect(answers.every(({ upstream }) => upstream?.endsWith(`:${good.port}`))).toBe(true);
	// Who lost is aborted.
	await until(() => hanging.requests.every(({ isAborted }) => isAborted));
	expect(upstreams.snapshot()[0]?.upstreams.map(({ running }) => running)).toEqual([0, 0]);
});

test("an upstream that hangs is learned from callers who leave, too", async () => {
	const [hanging, good] = [await chain(), await chain()];
	const config = rpcConfig({ "ethereum-mainnet": [{ url: hanging.url }, { url: good.url, order: 1 }] }, { hedgePercent: 0 });
	const upstreams = await over([], { config, ...PATIENT, clock: fastClock(20) });
	hanging.always({ hang: true });
	hanging.probesGet({ status: 503, raw: "" });
	for (let count = 0; count < 3; count++) {
		const signal = AbortSignal.timeout(150);
		await expect(upstreams.single({ ...call(), signal })).rejects.toThrow();
	}
	expect(upstreams.snapshot()[0]?.upstreams[0]).toMatchObject({ state: "out", running: 0 });
	expect((await upstreams.single(call())).upstream).toBe(`127.0.0.1:${good.port}`);
});

test("a reset of a kept connection does not hide what the upstream says then", async () => {
	const node = await chain();
	const upstreams = await over([node.url]);
	node.next({ reset: true }, { answer: ({ items }) => ({ id: items[0]?.id, error: { code: -32601, message: "not found" } }) });
	expect((await upstreams.single(call())).outcome).toMatchObject({ kind: "error", code: -32601 });
	expect(upstreams.snapshot()[0]?.upstreams[0]?.consecutiveFaults).toBe(0);
});

test("where all are out, those that are silent are tried last", async () => {
	const [hanging, failing] = [await chain(), await chain()];
	const upstreams = await over([hanging.url, failing.url], PATIENT);
	hanging.always({ hang: true });
	for (const node of [hanging, failing]) node.probesGet({ status: 503, raw: "" });
	for (let count = 0; count < 3; count++) await upstreams.single(call());
	failing.always({ status: 502, raw: "" });
	for (let count = 0; count < 3; count++) {
		const controller = new AbortController();
		const running = upstreams.single({ ...call(), signal: controller.signal }).catch(() => {});
		await until(() => failing.requests.length > 3 + count);
		await Bun.sleep(5);
		controller.abort();
		await running;
	}
	expect(upstreams.online()).toEqual([]);
	failing.always({});
	const { length } = hanging.requests;
	for (let count = 0; count < 10; count++) await upstreams.single(call());
	expect(hanging.requests).toHaveLength(length);
});

test("consecutive faults take an upstream out, and it is tried all the same where it is the only one", async () => {
	const [first, second] = [await chain(), await chain()];
	const upstreams = await over([first.url, second.url]);
	first.always({ status: 502, raw: "" });
	first.probesGet({ status: 502, raw: "" });
	for (let count = 0; count < 20; count++) await upstreams.single(call());
	expect(first.requests).toHaveLength(3);
	second.always({ status: 502, raw: "" });
	second.probesGet({ status: 502, raw: "" });
	for (let count = 0; count < 5; count++) await upstreams.single(call()).catch(() => {});
	expect(upstreams.online()).toEqual([]);
	second.always({});
	expect((await upstreams.single(call())).outcome.kind).toBe("result");
	expect(upstreams.online()).toEqual(["ethereum-mainnet"]);
});

test("an upstream of another chain is never asked, and says so loudly; corrected, it is used", async () => {
	const log = keptLog();
	const [wrong, good] = [await chain("0x89"), await chain("0x01")];
	const upstreams = await over([{ url: wrong.url, health: { failures: 3, probeEveryMs: 10 } }, { url: good.url }], { log });
	expect(log.errors).toEqual(["an upstream serves another chain: it is not used"]);
	for (let count = 0; count < 10; count++) await upstreams.single(call());
	await upstreams.batch(call());
	expect(wrong.requests).toHaveLength(0);
	expect(upstreams.snapshot()[0]?.upstreams.map(({ chain }) => chain)).toEqual(["wrong", "right"]);
	wrong.chainId = "0x1";
	await until(() => upstreams.snapshot()[0]?.upstreams[0]?.chain === "right");
	await upstreams.single(call());
	expect(wrong.requests).toHaveLength(1);
});

test("where all upstreams serve another chain the network is offline, and says why", async () => {
	const wrong = await chain("0x89");
	const upstreams = await over([wrong.url]);
	expect(upstreams.online()).toEqual([]);
	await expect(upstreams.single(call())).rejects.toMatchObject({ code: "RPC_NETWORK_OFFLINE", status: 503 });
	await expect(upstreams.single(call())).rejects.toThrow("serve another chain");
});

test("an upstream that is not there at the start is not online until a probe was good", async () => {
	const node = await chain();
	await node.stop();
	const upstreams = await over([{ url: node.url, health: { failures: 3, probeEveryMs: 10 } }]);
	expect(upstreams.online()).toEqual([]);
	await expect(upstreams.single(call())).rejects.toMatchObject({
		code: "RPC_NETWORK_OFFLINE",
		options: { retryAfterSeconds: 5 },
	});
	await node.start();
	await until(() => upstreams.online().length > 0);
	expect((await upstreams.single(call())).outcome.kind).toBe("result");
});

test("one that comes back with another chain is found out before it is used again", async () => {
	const [first, second] = [await chain(), await chain()];
	const upstreams = await over([{ url: first.url, health: { failures: 1, probeEveryMs: 10 } }, second.url]);
	await first.stop();
	await upstreams.single(call());
	first.chainId = "0x5";
	await first.start();
	await until(() => upstreams.snapshot()[0]?.upstreams[0]?.chain === "wrong");
	await upstreams.single(call());
	expect(first.requests).toHaveLength(0);
});

test("a call right after the start waits for the first look at the upstreams", async () => {
	const node = await chain();
	node.probesGet({ delayMs: 50 });
	const { createRpcUpstreams } = await import("./upstreams.ts");
	const { RPC_CATALOG } = await import("../../../test/support/rpc-calls.ts");
	const { silentLog } = await import("../../telemetry/log.ts");
	const upstreams = createRpcUpstreams({
		catalog: RPC_CATALOG,
		config: rpcConfig({ "ethereum-mainnet": [{ url: node.url }] }),
		timeouts: { rpcMs: 5_000, rpcSlowMs: 5_000 },
		log: silentLog,
	});
	open.push(upstreams);
	expect(textOf((await upstreams.single(call())).outcome)).toBe('"0x2a"');
});

test("what operators say of capabilities narrows the choice, and a lesson ends", async () => {
	const [plain, tracing] = [await chain(), await chain()];
	const upstreams = await over([
		{ url: plain.url, capabilities: ["archive"] },
		{ url: tracing.url, capabilities: ["trace"] },
	]);
	await upstreams.single(call("trace_block"));
	await upstreams.single(call("eth_call"));
	expect([plain.requests.length, tracing.requests.length]).toEqual([1, 1]);

	let nowMs = 0;
	const clock = {
		monotonicMs: () => nowMs,
		after: (ms: number, action: () => void) =>
			(
				(id) => () =>
					clearTimeout(id)
			)(setTimeout(action, ms)),
	};
	const learning = await over([plain.url, tracing.url], { clock });
	plain.next({ answer: ({ items }) => ({ id: items[0]?.id, error: { code: -32601, message: "the method does not exist" } }) });
	for (let count = 0; count < 4; count++) await learning.single(call("eth_getProof"));
	expect([plain.requests.length, tracing.requests.length]).toEqual([2, 5]);
	nowMs = 61_000;
	await learning.single(call("eth_getProof"));
	expect(plain.requests).toHaveLength(3);
});

test("the state of old blocks is asked of archives, that of new ones of whoever is first", async () => {
	const [pruned, archive] = [await chain(), await chain()];
	for (const node of [pruned, archive]) node.result("eth_blockNumber", "0x3e8");
	const upstreams = await over([
		{ url: pruned.url, capabilities: [] },
		{ url: archive.url, capabilities: ["archive"] },
	]);
	const read = (block: string) => callOf(itemOf("eth_getBalance", ["0x0", block]));
	await upstreams.single(read("0x64"));
	await upstreams.batch(read("earliest"));
	expect([pruned.requests.length, archive.requests.length]).toEqual([0, 2]);
	await upstreams.single(read("0x3e0"));
	await upstreams.single(read("latest"));
	expect([pruned.requests.length, archive.requests.length]).toEqual([2, 2]);
});

test("where two upstreams are silent a third is asked", async () => {
	const nodes = [await chain(), await chain(), await chain()] as const;
	const upstreams = await over(
		nodes.map(({ url }) => url),
		{ timeouts: { rpcMs: 6_000, rpcSlowMs: 6_000 } },
	);
	for (const node of nodes.slice(0, 2)) node.always({ hang: true });
	expect((await upstreams.single(call())).upstream).toBe(`127.0.0.1:${nodes[2].port}`);
});

test("an upstream runs no more calls than it may", async () => {
	const [small, second] = [await chain(), await chain()];
	small.always({ delayMs: 30 });
	const upstreams = await over([{ url: small.url, maxConcurrent: 2 }, second.url]);
	await Promise.all(Array.from({ length: 6 }, () => upstreams.single(call())));
	expect([small.requests.length, second.requests.length]).toEqual([2, 4]);
});

test("calls wait for a place where every upstream is full: accounts in turns, and not for ever", async () => {
	const small = await chain();
	const { promise: released, resolve: release } = Promise.withResolvers<void>();
	const hanging = await over([{ url: small.url, maxConcurrent: 1 }]);
	const order: string[] = [];
	small.always({ after: released });
	const asked = ["acc_a", "acc_a", "acc_a", "acc_b"].map(async (tenant) => {
		await hanging.single(callOf(itemOf("eth_call"), { tenant }));
		order.push(tenant);
	});
	await until(() => small.requests.length === 1, "the first call");
	release();
	await Promise.all(asked);
	expect(order).toEqual(["acc_a", "acc_a", "acc_b", "acc_a"]);
	small.always({ hang: true });
	const soon = {
		monotonicMs: systemTimerClock.monotonicMs,
		after: (ms: number, action: () => void) => systemTimerClock.after(ms / 50, action),
	};
	const alone = await over([{ url: small.url, maxConcurrent: 1 }], { ...PATIENT, clock: soon });
	const left = new AbortController();
	const held = alone.single({ ...call(), signal: left.signal }).catch(() => {});
	await until(() => small.requests.length === 5, "the call that holds the place");
	const refused = await alone.single(call()).catch((error: unknown) => error);
	expect(refused).toMatchObject({ code: "RPC_NETWORK_OFFLINE", options: { retryAfterSeconds: 1 } });
	left.abort();
	await held;
});

test("weights share the calls among upstreams of the same order", async () => {
	const [heavy, light] = [await chain(), await chain()];
	let seed = 1;
	const upstreams = await over(
		[
			{ url: heavy.url, order: 0, weight: 3 },
			{ url: light.url, order: 0, weight: 1 },
		],
		{
			random: () => {
				seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
				return seed / 2 ** 32;
			},
		},
	);
	for (let count = 0; count < 200; count++) await upstreams.single(call());
	expect(heavy.requests.length).toBeGreaterThan(120);
	expect(light.requests.length).toBeGreaterThan(20);
});

test("a reload takes new upstreams; what runs ends where it began, and what is known of a server stays", async () => {
	const [first, second] = [await chain(), await chain()];
	const upstreams = await over([first.url]);
	first.next({ delayMs: 50 });
	const running = upstreams.single(call());
	await until(() => first.requests.length === 1);
	const timeouts = { rpcMs: 5_000, rpcSlowMs: 5_000 };
	expect(() => upstreams.reload(rpcConfig({ "ethereum-mainet": [] }), timeouts)).toThrow(ConfigError);
	upstreams.reload(rpcConfig({ "ethereum-mainnet": [{ url: second.url }] }), timeouts);
	await upstreams.checked();
	expect((await upstreams.single(call())).upstream).toBe(`127.0.0.1:${second.port}`);
	expect((await running).upstream).toBe(`127.0.0.1:${first.port}`);
	const { probes } = second;
	upstreams.reload(rpcConfig({ "ethereum-mainnet": [{ url: second.url, weight: 5, name: "b" }] }), timeouts);
	expect(upstreams.online()).toEqual(["ethereum-mainnet"]);
	expect((await upstreams.single(call())).upstream).toBe("b");
	expect(second.probes).toBe(probes);
	upstreams.reload(rpcConfig({ "ethereum-mainnet": [] }), timeouts);
	await expect(upstreams.single(call())).rejects.toMatchObject({ code: "RPC_NETWORK_OFFLINE" });
});

test("networks that are switched off are not there, optional ones only where they have an upstream", async () => {
	const node = await chain();
	const config = rpcConfig({ "robinhood-mainnet": [{ url: node.url }] });
	const upstreams = await over([node.url], {
		config: { ...config, networks: { ...config.networks, "base-mainnet": { enabled: false, upstreams: [] } } },
	});
	expect(upstreams.networks()).toContain("robinhood-mainnet");
	expect(upstreams.networks()).not.toContain("base-mainnet");
	expect(upstreams.networks()).toHaveLength(23);
	expect(upstreams.network("base-mainnet")).toBeUndefined();
});

test("networks without an upstream use public endpoints where the operator wants it, and only those", async () => {
	const [own, open1] = [await chain(), await chain("0x2105")];
	const asked: string[] = [];
	const upstreams = await over([], {
		config: rpcConfig({ "ethereum-mainnet": [{ url: own.url }] }, { public: true }),
		publicEndpoints: async ({ slug }) => {
			asked.push(slug);
			return slug === "base-mainnet" ? [open1.url] : [];
		},
	});
	expect(upstreams.online()).toEqual(["base-mainnet", "ethereum-mainnet"]);
	expect(asked).not.toContain("ethereum-mainnet");
	expect(upstreams.snapshot().find(({ network }) => network === "base-mainnet")?.upstreams[0]?.isPublic).toBe(true);
});

test("public endpoints are those of the chains' own definitions", async () => {
	const { publicEndpoints } = await import("./public-endpoints.ts");
	const { RPC_CATALOG } = await import("../../../test/support/rpc-calls.ts");
	for (const network of RPC_CATALOG.networks.values()) {
		const urls = await publicEndpoints(network);
		expect(urls.every((url) => url.startsWith("https://"))).toBe(true);
		expect(urls.length > 0).toBe(network.vm === "evm");
	}
});
