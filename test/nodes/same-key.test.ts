import { afterAll, beforeAll, expect, test } from "bun:test";
import { type PostgresCluster, startPostgres } from "../support/postgres-cluster.ts";
import { request } from "../support/rpc-gateway.ts";
import { type ScriptedChain, startScriptedChain } from "../support/scripted-chain.ts";
import { ADMIN_KEY, type Served, serve, turnpike } from "../support/served.ts";

const KEYS = 12;

let cluster: PostgresCluster;
let chain: ScriptedChain;
const nodes: Served[] = [];

beforeAll(async () => {
	cluster = await startPostgres();
	chain = await startScriptedChain();
});

afterAll(async () => {
	for (const node of nodes) node.remove();
	await chain.stop();
	await cluster.stop();
});

test("an idempotency key that comes to two nodes at once reaches one upstream, is charged once, and both give its answer", async () => {
	const store = await cluster.newDatabase();
	const env = { TURNPIKE_STORE: store, TURNPIKE_RPC_ETHEREUM_MAINNET: chain.url };
	nodes.push(...(await Promise.all([serve({ env }), serve({ env })])));
	const call = (node: Served, key: number) =>
		fetch(`${node.url}/api/v1/crypto/rpc/ethereum-mainnet`, {
			method: "POST",
			headers: {
				authorization: `Bearer ${ADMIN_KEY}`,
				"content-type": "application/json",
				"idempotency-key": `key-${key}`,
			},
			body: JSON.stringify(request("eth_gasPrice", [], key)),
		});
	chain.always({ delayMs: 50 });
	const texts = new Set<string>();
	let fresh = 0;
	for (let key = 0; key < KEYS; key++) {
		const answers = await Promise.all([...nodes, ...nodes].map((node) => call(node, key)));
		for (const answer of answers) {
			expect([200, 409]).toContain(answer.status);
			if (answer.status === 200 && !answer.headers.has("idempotent-replayed")) fresh++;
		}
		for (const node of nodes) {
			const again = await call(node, key);
			expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
			texts.add(await again.text());
		}
	}
	expect([fresh, chain.requests.length, texts.size]).toEqual([KEYS, KEYS, KEYS]);
	const { stdout } = await turnpike(["audit", "--json"], { TURNPIKE_STORE: store });
	expect(JSON.parse(stdout)).toMatchObject({ ok: true });
});
