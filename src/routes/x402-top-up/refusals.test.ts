import { expect, test } from "bun:test";
import { startPayingGateway } from "../../../test/support/paying-gateway.ts";
import { startUsdcChain } from "../../../test/support/usdc-chain.ts";
import { startWalletGateway } from "../../../test/support/wallet-gateway.ts";

test("405 for another method", async () => {
	const fixture = await startWalletGateway();
	try {
		const answer = await fixture.get("/x402/top-up");
		expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
	} finally {
		await fixture.stop();
	}
});

test("429 past the limit of an address in a minute", async () => {
	const fixture = await startWalletGateway({ config: { limits: { topUpsPerMinute: 2 } } });
	try {
		const statuses: number[] = [];
		for (let turn = 0; turn < 3; turn++) statuses.push((await fixture.post("/x402/top-up")).status);
		expect(statuses).toEqual([503, 503, 429]);
		const answer = await fixture.post("/x402/top-up");
		expect(await answer.json()).toMatchObject({ error: expect.stringContaining("per minute"), code: "RATE_LIMIT_EXCEEDED" });
		expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
	} finally {
		await fixture.stop();
	}
});

test("503 where no receiver is configured, with what to configure", async () => {
	const fixture = await startWalletGateway();
	try {
		for (const headers of [{}, { "PAYMENT-SIGNATURE": "e30=" }]) {
			const answer = await fixture.post("/x402/top-up", headers);
			expect(answer.status).toBe(503);
			expect(await answer.json()).toEqual({
				error: "X402_NOT_CONFIGURED",
				message: expect.stringContaining("TURNPIKE_X402_PAY_TO"),
			});
		}
	} finally {
		await fixture.stop();
	}
});

test("503 while the chain is down: offers are made, a payment is to be sent again", async () => {
	const usdc = await startUsdcChain();
	const fixture = await startPayingGateway({ usdc, x402: { rpcUrl: "http://127.0.0.1:9" } });
	try {
		expect((await fixture.post("/x402/top-up")).status).toBe(402);
		const payer = await fixture.payer();
		const answer = await fixture.post("/x402/top-up", { "PAYMENT-SIGNATURE": await fixture.payment(payer) });
		expect(answer.status).toBe(503);
		expect(await answer.json()).toMatchObject({
			error: "X402_FACILITATOR_UNAVAILABLE",
			message: expect.stringContaining("retry"),
		});
		expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
		expect(await fixture.received()).toBe(0);
	} finally {
		await fixture.stop();
		await usdc.stop();
	}
});

test("503 while nobody knows whether the payment is settled, never 402; then 200 for the same header", async () => {
	const fixture = await startPayingGateway({ config: { timeouts: { facilitatorMs: 1_500 } } });
	try {
		const payer = await fixture.payer();
		const header = await fixture.payment(payer);
		await fixture.usdc.autoMine(false);
		const answer = await fixture.post("/x402/top-up", { "PAYMENT-SIGNATURE": header });
		expect(answer.status).toBe(503);
		const { error, details } = (await answer.json()) as { error: string; details: { transaction: string } };
		expect(error).toBe("X402_SETTLEMENT_PENDING");
		expect(details.transaction).toMatch(/^0x[0-9a-f]{64}$/);
		expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
		await fixture.usdc.mine();
		await fixture.usdc.autoMine(true);
		const again = await fixture.post("/x402/top-up", { "PAYMENT-SIGNATURE": header });
		expect([again.status, await again.json()]).toMatchObject([200, { data: { amountCredited: 5, newBalance: 5 } }]);
		expect(await fixture.received()).toBe(5_000_000_000);
	} finally {
		await fixture.stop();
	}
});
