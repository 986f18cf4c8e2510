/** The server with payments on Solana, by variables alone. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { decoded } from "../support/paying-gateway.ts";
import { serve, turnpike } from "../support/served.ts";
import { SOLANA, SolanaCluster } from "../support/solana-cluster.ts";
import { SolanaFacilitator } from "../support/solana-facilitator.ts";
import { loadSolanaPackages, type SolanaPackages, solanaFolder } from "../support/solana-packages.ts";
import { solanaPayment } from "../support/solana-top-up-service.ts";

const folder = solanaFolder();

describe.skipIf(folder === null)("payments on Solana by variables alone", () => {
	let packages: SolanaPackages;
	let cluster: SolanaCluster;
	let facilitator: SolanaFacilitator;
	beforeAll(async () => {
		packages = await loadSolanaPackages(folder ?? "");
		cluster = await SolanaCluster.start(packages);
		facilitator = await SolanaFacilitator.start(packages, cluster);
	});
	afterAll(async () => {
		await Promise.all([cluster.stop(), facilitator.stop()]);
	});

	test("wallets top up and sign in; the operator sees and proves it", async () => {
		const payTo = await cluster.receiver();
		const env = {
			TURNPIKE_X402_SOLANA_PAY_TO: payTo,
			TURNPIKE_X402_SOLANA_RPC: cluster.url,
			TURNPIKE_X402_SOLANA_FACILITATOR: facilitator.url,
		};
		const served = await serve({ env });
		const command = async (...args: string[]) => turnpike([...args, "--data", served.dataDir], env);
		try {
			const payer = await cluster.payer();
			const { header } = await solanaPayment(packages, cluster, { payer, payTo, feePayer: facilitator.feePayer }, { usd: 6 });
			const top = { method: "POST", headers: { "PAYMENT-SIGNATURE": header } };
			const paid = await fetch(`${served.url}/api/v1/x402/top-up`, top);
			expect([paid.status, decoded(paid.headers.get("payment-response"))]).toMatchObject([
				200,
				{ success: true, network: SOLANA.id },
			]);
			const balance = await fetch(`${served.url}/api/v1/x402/balance/${payer.address}`, { headers: payer.signIn(served.url) });
			expect(await balance.json()).toMatchObject({ data: { balanceUsd: 6 } });
			const shown = await command("wallets", "show", payer.address, "--json");
			expect(JSON.parse(shown.stdout)).toMatchObject({ history: [{ type: "TOP_UP", amountUsd: "6.0000" }] });
			const reconciled = await command("x402", "reconcile");
			expect([reconciled.code, reconciled.stdout]).toEqual([0, expect.stringContaining(`${SOLANA.id}: 6`)]);
		} finally {
			served.kill("SIGTERM");
			await served.exited;
			served.remove();
		}
	});

	test("a start is refused where the receiver is no address", async () => {
		for (const [receiver, text] of [
			["0x00000000000000000000000000000000000000A1", "expected an address of Solana"],
			["1".repeat(32), "is no address that someone can have the key of"],
		] as const) {
			const served = await serve({ env: { TURNPIKE_X402_SOLANA_PAY_TO: receiver }, waitFor: "nothing" });
			try {
				expect(await served.exited).toBe(78);
				expect(served.stderr()).toContain(text);
			} finally {
				served.remove();
			}
		}
	});
});
