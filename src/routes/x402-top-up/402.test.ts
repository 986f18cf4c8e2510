import { afterAll, beforeAll, expect, test } from "bun:test";
import { decoded, type PayingGateway, startPayingGateway } from "../../../test/support/paying-gateway.ts";
import { BASE, randomNonce } from "../../../test/support/usdc-chain.ts";

let fixture: PayingGateway;
beforeAll(async () => {
	fixture = await startPayingGateway();
});
afterAll(() => fixture.stop());

const offer = (amount = "5000000") => ({
	scheme: "exact",
	network: BASE.id,
	amount,
	asset: BASE.asset,
	payTo: fixture.payTo,
	maxTimeoutSeconds: 300,
	extra: { name: "USD Coin", version: "2" },
});

test("without a payment: what can be paid in the body, the whole of version 2 in the header", async () => {
	const answer = await fixture.post("/x402/top-up");
	expect(answer.status).toBe(402);
	expect(await answer.json()).toEqual({ x402Version: 2, accepts: [offer()] });
	expect(decoded(answer.headers.get("payment-required"))).toEqual({
		x402Version: 2,
		error: expect.any(String),
		resource: {
			url: `${fixture.gate.url}/api/v1/x402/top-up`,
			description: expect.any(String),
			mimeType: "application/json",
		},
		accepts: [offer()],
	});
});

test("?amountUsd= is what is offered", async () => {
	const answer = await fixture.post("/x402/top-up?amountUsd=7.5");
	expect(await answer.json()).toEqual({ x402Version: 2, accepts: [offer("7500000")] });
});

test("?x402Version=1 is answered in the form of version 1", async () => {
	const answer = await fixture.post("/x402/top-up?x402Version=1&amountUsd=8");
	expect(answer.status).toBe(402);
	expect(await answer.json()).toEqual({
		x402Version: 1,
		error: expect.any(String),
		accepts: [
			{
				scheme: "exact",
				network: "base",
				maxAmountRequired: "8000000",
				resource: `${fixture.gate.url}/api/v1/x402/top-up`,
				description: expect.any(String),
				mimeType: "application/json",
				payTo: fixture.payTo,
				maxTimeoutSeconds: 300,
				asset: BASE.asset,
				extra: { name: "USD Coin", version: "2" },
			},
		],
	});
});

test("a payment that ended without a transfer is told so, and how to pay anew", async () => {
	const payer = await fixture.payer();
	const nonce = randomNonce();
	const header = await fixture.payment(payer, { nonce });
	await fixture.usdc.cancel(payer.account, nonce);
	const answer = await fixture.post("/x402/top-up", { "PAYMENT-SIGNATURE": header });
	expect(answer.status).toBe(402);
	expect(await answer.json()).toEqual({ x402Version: 2, accepts: [offer()] });
	expect(decoded(answer.headers.get("payment-response"))).toMatchObject({ success: false, network: BASE.id });
	expect(await fixture.received()).toBe(0);
});
