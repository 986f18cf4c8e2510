/** Wallets at two servers on one PostgreSQL. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { audit } from "../../src/ledger/index.ts";
import { openAdmin } from "../../src/store/admin.ts";
import { type PostgresCluster, startPostgres } from "../support/postgres-cluster.ts";
import { type Served, serve } from "../support/served.ts";
import { until } from "../support/until.ts";
import { headerOf, startUsdcChain, type UsdcChain } from "../support/usdc-chain.ts";
import { testWallet, walletOf } from "../support/wallets.ts";

const PAY_TO = "0x00000000000000000000000000000000000000A1";
const WALLET_READS = 60;
const PUBLIC_URL = "https://gate.example.test";

let cluster: PostgresCluster;
let usdc: UsdcChain;
let store: string;
let nodes: Served[];
beforeAll(async () => {
	[cluster, usdc] = await Promise.all([startPostgres(), startUsdcChain()]);
	store = await cluster.newDatabase();
	const { key } = await usdc.feePayer();
	const env = {
		TURNPIKE_STORE: store,
		TURNPIKE_X402_PAY_TO: PAY_TO,
		TURNPIKE_X402_RPC: usdc.url,
		TURNPIKE_X402_KEY: key,
		TURNPIKE_PUBLIC_URL: PUBLIC_URL,
		TURNPIKE_RPC_BASE_MAINNET: usdc.url,
	};
	nodes = [await serve({ env }), await serve({ env })];
});
afterAll(async () => {
	for (const node of nodes) node.kill("SIGTERM");
	await Promise.all(nodes.map(({ exited }) => exited));
	for (const node of nodes) node.remove();
	await Promise.all([cluster.stop(), usdc.stop()]);
});

const rpc = (node: Served | undefined, headers: Record<string, string>) =>
	fetch(`${node?.url}/api/v1/crypto/rpc/base-mainnet`, {
		method: "POST",
		headers: { "content-type": "application/json", ...headers },
		body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}',
	});

test("a wallet without an account is limited at each server, and leaves no row behind", async () => {
	const stranger = testWallet();
	const signedIn = await stranger.signIn(PUBLIC_URL);
	const read = () => fetch(`${nodes[0]?.url}/api/v1/x402/balance/${stranger.address}`, { headers: signedIn });
	expect((await read()).status).toBe(200);
	expect((await read()).headers.get("x-ratelimit-remaining-requests")).toBe(`${WALLET_READS - 2}`);
	const admin = openAdmin(store);
	const { rows } = await sql<{ account_id: string }>`SELECT account_id FROM minute_windows`.execute(admin.db);
	await admin.close();
	expect(rows.filter(({ account_id: id }) => id.includes(stranger.address.toLowerCase()))).toEqual([]);
});

test("one header at both at once serves one request; what is left is spent at either, to the nano-dollar", async () => {
	const [first, second] = nodes;
	const payer = walletOf(await usdc.payer());
	const signedIn = await payer.signIn(PUBLIC_URL);
	// Both know the wallet as one that has nothing.
	for (const node of nodes) expect((await rpc(node, signedIn)).status).toBe(402);

	const header = headerOf(await usdc.sign(payer.account, PAY_TO));
	const twins = await Promise.all([first, second, first, second].map((node) => rpc(node, { "PAYMENT-SIGNATURE": header })));
	expect(twins.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401]);
	expect(await usdc.balance(payer.address)).toBe(995_000_000);

	for (const node of nodes) await until(async () => (await rpc(node, signedIn)).status === 200, "the money at the other server");
	const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => rpc(nodes[index % 2], signedIn)));
	expect(answers.map(({ status }) => status)).toEqual(Array(40).fill(200));

	const history = await fetch(`${second?.url}/api/v1/x402/transactions/${payer.address}?limit=100`, { headers: signedIn });
	const { data } = (await history.json()) as {
		data: { currentBalance: number; transactions: { type: string; amount: number }[] };
	};
	const charges = data.transactions.filter(({ type }) => type === "CHARGE");
	expect(charges.length).toBeGreaterThanOrEqual(43);
	expect(Math.round(data.currentBalance * 1e9)).toBe(5_000_000_000 - charges.length * 12_500);

	const admin = openAdmin(store);
	try {
		expect(await audit(admin.db)).toMatchObject({ ok: true });
	} finally {
		await admin.close();
	}
});
