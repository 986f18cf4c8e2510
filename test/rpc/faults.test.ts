/**
 * Two nodes behind a gateway, the first of which breaks in one way after another: how many callers notice. No request
 * fails, no answer is wrong, and each is charged once, whatever was tried behind it.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { type RpcGateway, startRpcGateway } from "../support/rpc-gateway.ts";
import { type ChainBehaviour, type ChainItem, type ScriptedChain, startScriptedChain } from "../support/scripted-chain.ts";
import { until } from "../support/until.ts";

/** A request that waits for the time limit takes far longer, one that a second try saves far less. */
const SLOW_MS = 5_000;
const ROUNDS = 30;

let fixture: RpcGateway;
let good: ScriptedChain;
beforeAll(async () => {
	good = await startScriptedChain();
	fixture = await startRpcGateway();
	echo(fixture.chain);
	echo(good);
});
afterAll(async () => {
	await fixture.stop();
	await good.stop();
});

function echo(chain: ScriptedChain): void {
	chain.result("eth_call", (params: unknown) => params);
}

/** New upstreams for each fault: what was learned of the nodes is forgotten. */
let generation = 0;
async function freshUpstreams(): Promise<void> {
	const { gate, chain } = fixture;
	generation++;
	const config = structuredClone(gate.gateway.config);
	// Who is out stays out for as long as these tests run.
	const health = { failures: 3, probeEveryMs: 600_000 };
	const upstreams = [chain, good].map(({ url }, order) => ({ url: `${url}/${generation}`, order, weight: 1, health }));
	config.rpc.networks["ethereum-mainnet"] = { enabled: true, upstreams };
	config.rpc.limits.staff = { requestsPerMinute: 1_000_000, creditsPerDay: 1_000_000_000 };
	config.rpc.limits.paid = config.rpc.limits.staff;
	gate.gateway.reload(config);
	// The new ones have been looked at when a call is answered.
	await fixture.rpc({ id: 0, method: "eth_gasPrice" });
	chain.requests.length = 0;
	good.requests.length = 0;
}

interface Counted {
	slow: number;
	failed: number;
	wrong: number;
}

let nonce = 0;

/** Calls and batches one after another, none like the other: each answer must be its own question's. */
async function count(rounds = ROUNDS): Promise<Counted> {
	const counted = { slow: 0, failed: 0, wrong: 0 };
	for (let round = 0; round < rounds; round++) {
		const items = Array.from({ length: round % 3 === 2 ? 4 : 1 }, (_, id) => ({ id, method: "eth_call", params: [nonce++] }));
		const startedMs = performance.now();
		const answer = await fixture.rpc(items.length === 1 ? items[0] : items);
		const body = (await answer.json()) as { id: number; result: unknown }[] | { id: number; result: unknown };
		if (performance.now() - startedMs > SLOW_MS) counted.slow++;
		if (answer.status !== 200) counted.failed++;
		const results = (Array.isArray(body) ? body : [body]).map(({ id, result }) => [id, result]);
		if (
			!Bun.deepEquals(
				results,
				items.map(({ id, params }) => [id, params]),
			)
		)
			counted.wrong++;
	}
	return counted;
}

const response = ({ id, params }: ChainItem) => ({ jsonrpc: "2.0", id, result: params });
const html = { "content-type": "text/html" };

/** What the first node does to every request, and how many requests it gets to do it to before it is known. */
const FAULTS: Readonly<Record<string, readonly [behaviour: ChainBehaviour, most: number]>> = {
	hangs: [{ hang: true }, 5],
	"answers 502 with a page": [{ status: 502, raw: "<html>Bad Gateway</html>", headers: html }, 3],
	"answers 200 with a page": [{ raw: "<html>Welcome</html>", headers: html }, 3],
	"answers 429": [{ status: 429, raw: "", headers: { "retry-after": "60" } }, 1],
	"answers an empty 500": [{ status: 500, raw: "" }, 3],
	"closes in the middle of a body": [{ closeMidBody: true }, 3],
	// The same connection is tried once more on a new one.
	"resets connections": [{ reset: true }, 6],
};
for (const [name, [behaviour, most]] of Object.entries(FAULTS))
	test(`a node that ${name} fails no request`, async () => {
		await freshUpstreams();
		fixture.chain.always(behaviour);
		expect(await count()).toEqual({ slow: 0, failed: 0, wrong: 0 });
		expect(fixture.chain.requests.length).toBeWithin(1, most + 1);
		fixture.chain.always({});
	});

/** Faults that are no reason to leave a node alone: it answers what it can. */
const SPOILT: Readonly<Record<string, ChainBehaviour>> = {
	"leaves an item of each batch out": {
		answer: ({ items, isArray }) => (isArray ? items.slice(1).map(response) : response(items[0] as ChainItem)),
	},
	"answers batches out of order": {
		answer: ({ items, isArray }) => (isArray ? items.toReversed().map(response) : response(items[0] as ChainItem)),
	},
	"answers a batch with one object": { answer: ({ items }) => response(items[0] as ChainItem) },
	"packs what nobody asked it to": { pack: { encoding: "gzip", with: (body) => gzipSync(body) } },
	"has a clock that is hours off": { headers: { date: "Thu, 01 Jan 2026 00:00:00 GMT", age: "86400" } },
};
for (const [name, behaviour] of Object.entries(SPOILT))
	test(`a node that ${name} fails no request`, async () => {
		await freshUpstreams();
		fixture.chain.always(behaviour);
		expect(await count()).toEqual({ slow: 0, failed: 0, wrong: 0 });
		fixture.chain.always({});
	});

test("a node of another chain gets no request at all", async () => {
	fixture.chain.chainId = "0x89";
	await freshUpstreams();
	expect(await count()).toEqual({ slow: 0, failed: 0, wrong: 0 });
	expect(fixture.chain.requests).toHaveLength(0);
	fixture.chain.chainId = "0x1";
});

test("a final block that goes back takes back what was kept above it", async () => {
	let final = "0x64";
	for (const node of [fixture.chain, good])
		node.result("eth_getBlockByNumber", ([tag]: [string]) =>
			tag === "finalized" ? { number: final } : { number: tag, of: final },
		);
	await freshUpstreams();
	const read = async () => {
		const answer = await fixture.rpc({ id: 1, method: "eth_getBlockByNumber", params: ["0x60", false] });
		return ((await answer.json()) as { result: { of: string } }).result.of;
	};
	const asked = () => fixture.chain.requests.length + good.requests.length;
	const isKept = async () => {
		const before = asked();
		await read();
		return asked() === before;
	};
	await until(isKept);
	final = "0x50";
	await until(async () => (await read()) === "0x50");
	expect(await isKept()).toBe(false);
});

test("nothing is charged twice, and no hold is left", async () => {
	await until(() => fixture.gate.gateway.budgets.holdsOpen === 0);
	expect((await fixture.gate.audit()).ok).toBe(true);
	const posts = await fixture.gate.posts();
	const ids = posts.map(({ request_id }) => request_id);
	expect(new Set(ids).size).toBe(ids.length);
});
