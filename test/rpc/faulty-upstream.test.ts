/**
 * One of two upstreams is faulty, in each way that upstreams are. Over HTTP nobody sees more of it than a few slow
 * requests: none fails, each is paid once, no hold stays, and the books add up.
 */
import { afterEach, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { request, rpcUpstream } from "../support/rpc-gateway.ts";
import { type RunningGateway, startGateway } from "../support/running-gateway.ts";
import { type ChainBehaviour, type ChainRequest, type ScriptedChain, startScriptedChain } from "../support/scripted-chain.ts";
import { until } from "../support/until.ts";

const REQUESTS = 200;
/** Requests that the faulty upstream may make slow before it is out: three faults, and what was under way. */
const MOST_SLOW = 5;
/** From the first of them to the last: a second and a half where the machine has time. */
const LEARNED_MS = 10_000;
const NANO_PER_CREDIT = 625;
const PAGE = "<html><body>Bad gateway</body></html>";

const open: { stop(): Promise<void> }[] = [];
afterEach(async () => {
	for (const one of open.splice(0).toReversed()) await one.stop();
});

async function chain(id?: string): Promise<ScriptedChain> {
	const node = await startScriptedChain(id);
	open.push(node);
	return node;
}

async function gateBefore(nodes: readonly ScriptedChain[]): Promise<RunningGateway> {
	const many = { requestsPerMinute: 1_000_000, creditsPerDay: 1_000_000_000 };
	const upstreams = nodes.map(({ url }, order) => rpcUpstream(url, { order, health: { failures: 3, probeEveryMs: 200 } }));
	const gate = await startGateway({
		config: { rpc: { networks: { "ethereum-mainnet": { enabled: true, upstreams } }, limits: { paid: many, staff: many } } },
	});
	open.push(gate);
	await until(async () => (await onlineOf(gate)).length === 1, "the network");
	return gate;
}

async function onlineOf(gate: RunningGateway): Promise<string[]> {
	const { online } = (await (await gate.call("GET", "/crypto/rpc/networks")).json()) as { online: string[] };
	return online;
}

const ask = (gate: RunningGateway, body: unknown) => gate.call("POST", "/crypto/rpc/ethereum-mainnet", body);

/** So many requests one after another; how many failed. */
async function load(gate: RunningGateway, count: number, body: (index: number) => unknown, right: (answer: unknown) => boolean) {
	let failed = 0;
	for (let index = 0; index < count; index++) {
		const answer = await ask(gate, body(index));
		if (answer.status !== 200 || !right(await answer.json())) failed++;
	}
	return failed;
}

/** How many callers' requests reached a node: one that is asked again on a new connection is one. */
const slowOf = (node: ScriptedChain) => new Set(node.requests.map(({ items }) => JSON.stringify(items[0]?.params))).size;

const single = (index: number) => request("eth_getBalance", [`0x${index.toString(16).padStart(40, "0")}`, "latest"], index);
const isSingle = (answer: unknown) => (answer as { result?: unknown }).result === "0x2a";

/** What all that was asked cost, and that it was booked once. */
async function expectPosts(gate: RunningGateway, posts: number, credits: number): Promise<void> {
	const rows = await gate.posts();
	expect(rows).toHaveLength(posts);
	expect(rows.reduce((sum, { price }) => sum + Number(price), 0)).toBe(credits * NANO_PER_CREDIT);
	expect(gate.gateway.budgets.holdsOpen).toBe(0);
	expect((await gate.audit()).ok).toBe(true);
}

describe("one of two upstreams", () => {
	test.each<[string, ChainBehaviour]>([
		["hangs", { hang: true }],
		["answers 502 with a page", { status: 502, raw: PAGE, headers: { "content-type": "text/html" } }],
		["answers 200 with a page", { status: 200, raw: PAGE, headers: { "content-type": "text/html" } }],
		["answers 429", { status: 429, raw: "", headers: { "retry-after": "1" } }],
		["answers an empty 500", { status: 500, raw: "" }],
		["closes in the middle of a body", { closeMidBody: true }],
		["resets connections", { reset: true }],
	])("%s: no request fails, at most 5 are slow, and it is not asked again before a good probe", async (_name, behaviour) => {
		const [faulty, good] = [await chain(), await chain()];
		const gate = await gateBefore([faulty, good]);
		faulty.always(behaviour);
		faulty.probesGet(behaviour);
		expect(await load(gate, REQUESTS, single, isSingle)).toBe(0);
		const isPause = behaviour.status === 429;
		if (!isPause) {
			expect(slowOf(faulty)).toBeLessThanOrEqual(MOST_SLOW);
			expect((faulty.requests.at(-1)?.atMs ?? 0) - (faulty.requests[0]?.atMs ?? 0)).toBeLessThan(LEARNED_MS);
		}
		const asked = faulty.requests.length;
		expect(await load(gate, 20, single, isSingle)).toBe(0);
		if (!isPause) expect(faulty.requests).toHaveLength(asked);
		await expectPosts(gate, REQUESTS + 20, (REQUESTS + 20) * 20);
		// Well again, it is found by its probes and asked first, as it was.
		faulty.always({});
		faulty.probesGet(null);
		await until(async () => {
			expect(await load(gate, 1, single, isSingle)).toBe(0);
			return faulty.requests.length > asked;
		}, "the upstream that is well again");
	});

	const items = (index: number) => Array.from({ length: 5 }, (_, place) => request("eth_getCode", [index, place], place));
	const inOrder = (answer: unknown) =>
		Array.isArray(answer) && answer.length === 5 && answer.every((one, place) => one.id === place && one.result === `0x${place}`);
	const placed = ({ items: asked }: ChainRequest) =>
		asked.map(({ id, params }) => ({ jsonrpc: "2.0", id, result: `0x${(params as number[])[1]}` }));

	test.each<[string, ChainBehaviour]>([
		["leaves an item out", { answer: (asked) => placed(asked).slice(1) }],
		["answers in the other order", { answer: (asked) => placed(asked).toReversed() }],
		["answers one object for an array", { answer: (asked) => placed(asked)[0] }],
		["packs its answers", { answer: placed, pack: { encoding: "gzip", with: (body) => gzipSync(body) } }],
	])("%s of a batch: every item is answered in its place, and the batch is paid once", async (_name, behaviour) => {
		const [faulty, good] = [await chain(), await chain()];
		const gate = await gateBefore([faulty, good]);
		// A single call is answered right: what it gets wrong is the array.
		const right = (asked: ChainRequest) => (asked.isArray ? placed(asked) : placed(asked)[0]);
		faulty.always((asked) => (asked.isArray ? behaviour : { answer: right }));
		good.always({ answer: right });
		expect(await load(gate, 50, items, inOrder)).toBe(0);
		await expectPosts(gate, 50, 50 * 5 * 20);
	});

	test("serves another chain: it is never asked, and the other is", async () => {
		const [wrong, good] = [await chain("0x89"), await chain()];
		const gate = await gateBefore([wrong, good]);
		expect(await load(gate, 50, single, isSingle)).toBe(0);
		expect(wrong.requests).toHaveLength(0);
		await expectPosts(gate, 50, 50 * 20);
	});

	test("has a final block that goes back: what lies above it does not come from memory any more", async () => {
		const node = await chain();
		const finalAt = (block: number): void =>
			node.probesGet({
				answer: ({ items: [item] }) => ({
					jsonrpc: "2.0",
					id: item?.id,
					result: item?.method === "eth_getBlockByNumber" ? { number: `0x${block.toString(16)}` } : node.chainId,
				}),
			});
		let version = "old";
		node.result("eth_getCode", () => version);
		const gate = await gateBefore([node]);
		finalAt(100);
		const read = async () => {
			const answer = await ask(gate, request("eth_getCode", ["0xaa", "0x50"]));
			expect(answer.headers.get("x-service-rpc-credits")).toBe("20");
			return ((await answer.json()) as { result: string }).result;
		};
		let posts = 0;
		const readUntil = async (isSo: () => boolean, what: string) =>
			until(async () => {
				posts++;
				await read();
				return isSo();
			}, what);
		await readUntil(() => gate.gateway.chainCache.hits > 0, "an answer from memory");
		version = "new";
		finalAt(60);
		let seen = "";
		await until(async () => {
			posts++;
			seen = await read();
			return seen === "new";
		}, "the answer of after the reorg");
		await expectPosts(gate, posts, posts * 20);
	});

	test("has a clock of its own: a pause until an instant of it is as long as it means", async () => {
		const [skewed, good] = [await chain(), await chain()];
		const gate = await gateBefore([skewed, good]);
		const hour = 3_600_000;
		const date = (ms: number) => new Date(ms).toUTCString();
		// An hour ahead, it asks for a pause of a second.
		const headers = { date: date(Date.now() + hour), "retry-after": date(Date.now() + hour + 1_000) };
		skewed.next({ status: 429, raw: "", headers });
		expect(await load(gate, 1, single, isSingle)).toBe(0);
		await until(async () => {
			expect(await load(gate, 1, single, isSingle)).toBe(0);
			return skewed.requests.length > 1;
		}, "the end of the pause");
		expect((await gate.audit()).ok).toBe(true);
	});
});
