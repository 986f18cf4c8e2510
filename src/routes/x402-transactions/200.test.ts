import { afterAll, beforeAll, expect, test } from "bun:test";
import { refund } from "../../../src/store/admin.ts";
import { CHAT_MODEL, RPC_CALL_NANO, startWalletGateway, type WalletGateway } from "../../../test/support/wallet-gateway.ts";
import { testWallet } from "../../../test/support/wallets.ts";

let fixture: WalletGateway;
beforeAll(async () => {
	fixture = await startWalletGateway();
});
afterAll(() => fixture.stop());

interface Entry {
	readonly id: string;
	readonly amount: number;
	readonly balanceAfter: number;
	readonly type: string;
	readonly createdAt: string;
	readonly requestId: string | null;
	readonly modelId: string | null;
}
interface Page {
	readonly walletAddress: string;
	readonly currentBalance: number;
	readonly transactions: readonly Entry[];
	readonly pagination: object;
}

async function page(address: string, headers: Record<string, string>, query = ""): Promise<Page> {
	const answer = await fixture.get(`/x402/transactions/${address}${query}`, headers);
	expect(answer.status).toBe(200);
	const body = (await answer.json()) as { success: boolean; data: Page };
	expect(body.success).toBe(true);
	return body.data;
}

const nano = (usd: number) => Math.round(usd * 1e9);

test("a wallet that never topped up has no history", async () => {
	const wallet = testWallet();
	expect(await page(wallet.address, await wallet.signIn(fixture.gate.url))).toEqual({
		walletAddress: wallet.address.toLowerCase(),
		currentBalance: 0,
		transactions: [],
		pagination: { limit: 50, offset: 0, hasMore: false },
	});
});

test("charges and refunds stand in it newest first, with the request and the model, and add up to the balance", async () => {
	const wallet = testWallet();
	await fixture.fund(wallet, "5");
	const signedIn = await wallet.signIn(fixture.gate.url);
	const called = await fixture.rpc(signedIn);
	const chatted = await fixture.chat(signedIn, 200);
	expect([called.status, chatted.status]).toEqual([200, 200]);
	const requestOf = (answer: Response) => answer.headers.get("x-request-id") ?? "";
	await fixture.gate.openedStore.store.settled();
	await refund(fixture.gate.admin, { requestId: requestOf(called) });
	const { currentBalance, transactions } = await page(wallet.address, signedIn);
	expect(transactions.map(({ type, amount, requestId, modelId }) => [type, nano(amount), requestId, modelId])).toEqual([
		["REFUND", RPC_CALL_NANO, requestOf(called), "crypto-rpc/ethereum-mainnet"],
		["CHARGE", -(10 * 1_000 + 200 * 10_000), requestOf(chatted), CHAT_MODEL],
		["CHARGE", -RPC_CALL_NANO, requestOf(called), "crypto-rpc/ethereum-mainnet"],
		["CREDIT", 5_000_000_000, null, null],
	]);
	expect(transactions.reduce((sum, { amount }) => sum + nano(amount), 0)).toBe(nano(currentBalance));
	let balance = nano(currentBalance);
	for (const entry of transactions) {
		expect(nano(entry.balanceAfter)).toBe(balance);
		balance -= nano(entry.amount);
		expect(entry.id).toMatch(/^ledger_[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
		expect(new Date(entry.createdAt).toISOString()).toBe(entry.createdAt);
	}
	expect(balance).toBe(0);
	expect(new Set(transactions.map(({ id }) => id)).size).toBe(4);
});

test("the ids of a wallet's entries tell nothing of what others did in between, and stay the same", async () => {
	const [watching, other] = [testWallet(), testWallet()];
	for (const wallet of [watching, other]) await fixture.fund(wallet, "5");
	const signedIn = await watching.signIn(fixture.gate.url);
	const call = async (headers: typeof signedIn) => void (await (await fixture.rpc(headers)).arrayBuffer());
	await call(signedIn);
	await call(await other.signIn(fixture.gate.url));
	await call(signedIn);
	const idsOf = async () => (await page(watching.address, signedIn)).transactions.map(({ id }) => id);
	const ids = await idsOf();
	expect(ids).toHaveLength(3);
	expect(await idsOf()).toEqual(ids);
	// Behind the time stand 80 bits: numbers of movements would be neighbours in the last few of them.
	expect(new Set(ids.map((id) => id.slice(17, 25))).size).toBe(3);
});

test("goes on where the page before ended; null and nothing are no offset", async () => {
	const wallet = testWallet();
	await fixture.fund(wallet, "5");
	const signedIn = await wallet.signIn(fixture.gate.url);
	for (let calls = 0; calls < 4; calls++) await (await fixture.rpc(signedIn)).arrayBuffer();
	const all = (await page(wallet.address, signedIn)).transactions.map(({ id }) => id);
	expect(all).toHaveLength(5);
	const first = await page(wallet.address, signedIn, "?limit=3");
	const second = await page(wallet.address, signedIn, "?limit=3&offset=3");
	expect([first.pagination, second.pagination]).toEqual([
		{ limit: 3, offset: 0, hasMore: true },
		{ limit: 3, offset: 3, hasMore: false },
	]);
	expect([...first.transactions, ...second.transactions].map(({ id }) => id)).toEqual(all);
	expect((await page(wallet.address, signedIn, "?limit=5")).pagination).toMatchObject({ hasMore: false });
	for (const query of ["?offset=null", "?offset=", "?limit=&offset=0"])
		expect((await page(wallet.address, signedIn, query)).pagination).toEqual({ limit: 50, offset: 0, hasMore: false });
	expect((await page(wallet.address, signedIn, "?offset=1000000")).transactions).toEqual([]);
});
