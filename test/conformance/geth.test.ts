/**
 * The fixtures of the execution API, against geth and through the proxy in front of another geth with the same chain:
 * the same ones pass and fail, with the same answers. Skipped where there is no geth.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findGeth, type Geth, startGeth } from "../support/geth.ts";
import { request, rpcUpstream } from "../support/rpc-gateway.ts";
import { type RunningGateway, startGateway } from "../support/running-gateway.ts";
import { CHAIN_FOLDER, type Fixture, fixtures, isAsExpected } from "./fixtures.ts";

/** No chain id is known of this network, so any chain may serve it. */
const NETWORK = "robinhood-mainnet";
/** Those that the newest geth was seen to fail are two. */
const MOST_FAILED = 8;

const REFUSED = [
	"admin_peers",
	"debug_setHead",
	"debug_chaindbCompact",
	"engine_forkchoiceUpdatedV3",
	"eth_accounts",
	"eth_newBlockFilter",
	"eth_newFilter",
	"eth_sendTransaction",
	"eth_sign",
	"eth_subscribe",
	"ETH_CALL",
	"eth_call ",
	"miner_start",
	"personal_unlockAccount",
	"rpc_modules",
	"txpool_nothing",
];

const program = findGeth();
if (program === null) console.log("No geth here (docs/testing.md says how to get it): the conformance tests are skipped.");

interface Answer {
	readonly passes: boolean;
	/** The response to each request, without its id. */
	readonly values: readonly unknown[];
}

describe.skipIf(program === null)("the execution API through the proxy", () => {
	const all = fixtures();
	const reached: string[] = [];
	const nodes: Geth[] = [];
	let gate: RunningGateway;
	let recorder: Bun.Server<undefined>;
	let direct: ReadonlyMap<string, Answer>;

	const ask = async (url: string, body: string, headers: Record<string, string> = {}) => {
		const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json", ...headers }, body });
		return { status: response.status, text: await response.text() };
	};
	const throughProxy = (body: string) =>
		ask(`${gate.url}/api/v1/crypto/rpc/${NETWORK}`, body, { authorization: `Bearer ${gate.key}` });

	/** What became of each fixture. */
	async function runAll(of: readonly Fixture[], send: (body: string) => Promise<{ text: string }>) {
		const answers = new Map<string, Answer>();
		for (const fixture of of) {
			const passes: boolean[] = [];
			const values: unknown[] = [];
			for (const { request: body, response } of fixture.exchanges) {
				const { text } = await send(body);
				const { id, ...value } = JSON.parse(text) as Record<string, unknown>;
				passes.push(isAsExpected(fixture, response, text) && id === (JSON.parse(body) as { id: unknown }).id);
				values.push(value);
			}
			answers.set(fixture.name, { passes: passes.length > 0 && passes.every(Boolean), values });
		}
		return answers;
	}

	beforeAll(async () => {
		const [plain, behind] = await Promise.all([1, 2].map(() => startGeth(program ?? "", CHAIN_FOLDER)));
		if (plain === undefined || behind === undefined) throw new Error("no geth");
		nodes.push(plain, behind);
		recorder = Bun.serve({
			port: 0,
			hostname: "127.0.0.1",
			async fetch(incoming) {
				const body = await incoming.text();
				reached.push(body);
				const { text, status } = await ask(behind.url, body);
				return new Response(text, { status, headers: { "content-type": "application/json" } });
			},
		});
		const many = { requestsPerMinute: 1_000_000, creditsPerDay: 1_000_000_000 };
		gate = await startGateway({
			config: {
				rpc: {
					networks: { [NETWORK]: { enabled: true, upstreams: [rpcUpstream(`http://127.0.0.1:${recorder.port}`)] } },
					limits: { paid: many, staff: many },
				},
			},
		});
		direct = await runAll(all, (body) => ask(plain.url, body));
	});
	afterAll(async () => {
		await gate.stop();
		await recorder.stop(true);
		await Promise.all(nodes.map((node) => node.stop()));
	});

	test("every fixture is answered as the node answers it: the same pass, the same fail", async () => {
		expect(all.length).toBeGreaterThan(150);
		const failed = (answers: ReadonlyMap<string, Answer>) =>
			[...answers].filter(([, { passes }]) => !passes).map(([name]) => name);
		const proxied = await runAll(all, throughProxy);
		expect(failed(proxied)).toEqual(failed(direct));
		expect(failed(direct).length).toBeLessThanOrEqual(MOST_FAILED);
		expect(Object.fromEntries(proxied)).toEqual(Object.fromEntries(direct));
	});

	test("asked once more, from memory where that is allowed, they are the same", async () => {
		const reads = all.filter(({ method }) => method !== "eth_sendRawTransaction");
		const before = reached.length;
		const again = await runAll(reads, throughProxy);
		for (const [name, answer] of again) expect([name, answer]).toEqual([name, direct.get(name) as Answer]);
		expect(reached.length - before).toBeLessThan(reads.length);
	});

	test("in batches of a hundred they are the same", async () => {
		const reads = all.filter(({ method, exchanges }) => method !== "eth_sendRawTransaction" && exchanges.length === 1);
		for (let at = 0; at < reads.length; at += 100) {
			const batch = reads.slice(at, at + 100);
			const { text } = await throughProxy(`[${batch.map(({ exchanges }) => exchanges[0]?.request).join(",")}]`);
			const values = (JSON.parse(text) as Record<string, unknown>[]).map(({ id: _, ...value }) => value);
			const wanted = batch.map(({ name }) => direct.get(name)?.values[0]);
			expect(values as unknown[]).toEqual(wanted);
		}
	});

	test("methods that are not allowed are refused and do not reach the node, alone or in a batch", async () => {
		const before = reached.length;
		for (const method of REFUSED) {
			const alone = await throughProxy(JSON.stringify(request(method)));
			const inBatch = await throughProxy(JSON.stringify([request("eth_chainId"), request(method)]));
			expect([method, alone.status, inBatch.status]).toEqual([method, 400, 400]);
			expect(alone.text).toContain("RPC_METHOD_UNSUPPORTED");
		}
		const since = reached.slice(before).join("\n");
		for (const method of REFUSED) expect(since).not.toContain(`"${method}"`);
	});

	test("the books are clean after all of it", async () => {
		expect(gate.gateway.budgets.holdsOpen).toBe(0);
		expect((await gate.audit()).ok).toBe(true);
	});
});
