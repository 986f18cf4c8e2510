/** The life of a program that has a wallet of Solana and nothing else, with the published client of x402. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { decoded } from "../support/paying-gateway.ts";
import { SOLANA, SolanaCluster } from "../support/solana-cluster.ts";
import { SolanaFacilitator } from "../support/solana-facilitator.ts";
import { loadSolanaPackages, type SolanaPackages, solanaFolder } from "../support/solana-packages.ts";
import { solanaPayment } from "../support/solana-top-up-service.ts";
import { until } from "../support/until.ts";
import { CHAT_MODEL, RPC_CALL_NANO, startWalletGateway, type WalletGateway } from "../support/wallet-gateway.ts";
import type { TestSolanaWallet } from "../support/wallets.ts";

const folder = solanaFolder();
const nano = (usd: number) => Math.round(usd * 1e9);

describe.skipIf(folder === null)("a wallet of Solana", () => {
	let packages: SolanaPackages;
	let cluster: SolanaCluster;
	let facilitator: SolanaFacilitator;
	let fixture: WalletGateway;
	let payTo: string;

	beforeAll(async () => {
		packages = await loadSolanaPackages(folder ?? "");
		cluster = await SolanaCluster.start(packages);
		facilitator = await SolanaFacilitator.start(packages, cluster);
		payTo = await cluster.receiver();
		const solana = { payTo, rpcUrl: cluster.url, facilitator: { url: facilitator.url } };
		const limits = { failedRequests: 0, topUpsPerMinute: 10_000 };
		fixture = await startWalletGateway({ config: { limits, x402: { solana, sweepEveryMs: 3_600_000 } } });
		await until(async () => offered(await fixture.post("/x402/top-up"))?.extra.feePayer !== undefined);
	});
	afterAll(async () => {
		await fixture.stop();
		await Promise.all([cluster.stop(), facilitator.stop()]);
	});

	type Offer = { readonly extra: Readonly<Record<string, string>> };
	const offered = ({ headers }: Response) => decoded<{ accepts: readonly Offer[] }>(headers.get("payment-required")).accepts[0];

	async function paying(payer: TestSolanaWallet) {
		const signer = await packages.kit.createKeyPairSignerFromPrivateKeyBytes(payer.seed);
		const scheme = new packages.PayingScheme(signer, { rpcUrl: cluster.url });
		const schemes = [{ network: "solana:*", client: scheme }];
		const client = packages.x402Client.fromConfig({ schemes, spendControls: { maxAmountPerPayment: "$20" } });
		return packages.wrapFetchWithPayment(fetch, client);
	}

	test("402, top up, sign in, spend, and a history that adds up", async () => {
		const payer = await cluster.payer(100);
		const first = await fixture.rpc({});
		expect(first.status).toBe(402);
		expect(offered(first)).toEqual({
			scheme: "exact",
			network: SOLANA.id,
			amount: "10000000",
			asset: SOLANA.asset,
			payTo,
			maxTimeoutSeconds: 300,
			extra: { feePayer: facilitator.feePayer },
		} as never);
		const signedIn = payer.signIn(fixture.gate.url);
		const broke = await fixture.rpc(signedIn);
		expect([broke.status, await broke.json()]).toMatchObject([
			402,
			{
				supportedChains: ["solana"],
				topUpInstructions: { receiverWallet: payTo, tokenAddress: SOLANA.asset, network: SOLANA.id },
			},
		]);
		const fetching = await paying(payer);
		const toppedUp = await fetching(`${fixture.gate.url}/api/v1/x402/top-up?amountUsd=7.5`, { method: "POST" });
		expect([toppedUp.status, await toppedUp.json()]).toMatchObject([
			200,
			{ data: { walletAddress: payer.address, amountCredited: 7.5, newBalance: 7.5 } },
		]);
		expect(decoded(toppedUp.headers.get("payment-response"))).toMatchObject({
			success: true,
			network: SOLANA.id,
			payer: payer.address,
		});
		expect((await fixture.rpc(signedIn)).status).toBe(200);
		expect((await fixture.chat(signedIn, 5)).status).toBe(200);
		const left = 7_500_000_000 - RPC_CALL_NANO - 60_000;
		const balance = await fixture.get(`/x402/balance/${payer.address}`, signedIn);
		expect(await balance.json()).toMatchObject({
			data: { walletAddress: payer.address, balanceUsd: left / 1e9, canConsume: true },
		});
		const history = await fixture.get(`/x402/transactions/${payer.address}`, signedIn);
		const { data } = (await history.json()) as { data: { transactions: { type: string; amount: number }[] } };
		expect(data.transactions.map(({ type, amount }) => [type, nano(amount)])).toEqual([
			["CHARGE", -60_000],
			["CHARGE", -RPC_CALL_NANO],
			["TOP_UP", 7_500_000_000],
		]);
		expect(await cluster.balance(payTo)).toBe(7_500_000);
	});

	test("pays with a chat itself, once: the same payment again serves nothing", async () => {
		const payer = await cluster.payer(100);
		const fetching = await paying(payer);
		const body = JSON.stringify({ model: CHAT_MODEL, messages: [{ role: "user", content: "5" }], max_completion_tokens: 100 });
		const headers = { "content-type": "application/json" };
		const answer = await fetching(`${fixture.gate.url}/api/v1/chat/completions`, { method: "POST", headers, body });
		expect([answer.status, decoded(answer.headers.get("payment-response"))]).toMatchObject([200, { success: true }]);
		const { header } = await solanaPayment(packages, cluster, { payer, payTo, feePayer: facilitator.feePayer });
		const statuses = await Promise.all(
			Array.from({ length: 5 }, async () => (await fixture.rpc({ "PAYMENT-SIGNATURE": header })).status),
		);
		expect(statuses.toSorted()).toEqual([200, 401, 401, 401, 401]);
		const signedIn = payer.signIn(fixture.gate.url);
		const { data } = (await (await fixture.get(`/x402/balance/${payer.address}`, signedIn)).json()) as {
			data: { balanceUsd: number };
		};
		expect(nano(data.balanceUsd)).toBe(15_000_000_000 - 60_000 - RPC_CALL_NANO);
	});
});
