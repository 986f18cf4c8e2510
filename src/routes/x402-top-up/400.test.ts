import { afterAll, beforeAll, expect, test } from "bun:test";
import { decoded, type PayingGateway, startPayingGateway } from "../../../test/support/paying-gateway.ts";
import { base64, headerOf } from "../../../test/support/usdc-chain.ts";

let fixture: PayingGateway;
beforeAll(async () => {
	fixture = await startPayingGateway();
});
afterAll(async () => {
	expect(await fixture.received()).toBe(0);
	await fixture.stop();
});

/** Status and body of a top-up with this header. */
async function pay(header: string, name = "PAYMENT-SIGNATURE"): Promise<unknown> {
	const answer = await fixture.post("/x402/top-up", { [name]: header });
	return [answer.status, await answer.json()];
}

const invalid = (reason: unknown) => [400, { error: "X402_INVALID_PAYMENT", message: expect.any(String), details: { reason } }];

test("a header that is no payment", async () => {
	for (const header of ["%", "e30=", base64(null), base64([]), base64("x"), base64({ x402Version: 2 }), "bm8ganNvbg=="])
		expect(await pay(header)).toEqual(invalid(expect.any(String)));
});

test("two headers that differ", async () => {
	const answer = await fixture.post("/x402/top-up", { "PAYMENT-SIGNATURE": "e30=", "X-PAYMENT": "bnVsbA==" });
	expect([answer.status, await answer.json()]).toEqual(invalid("header_conflict"));
});

test("less than the least, more than the most, another receiver, network or token, too early, too late", async () => {
	const payer = await fixture.payer(20_000);
	const now = Math.floor(Date.now() / 1_000);
	const other = "0x00000000000000000000000000000000000000A1";
	for (const [signing, accepted, reason] of [
		[{ usd: 4.999999 }, {}, "amount_below_minimum"],
		[{ usd: 10_000.000001 }, {}, "amount_above_maximum"],
		[{}, { amount: "6000000" }, "amount_mismatch"],
		[{ to: other }, {}, "recipient_mismatch"],
		[{}, { network: "eip155:84532" }, "network_mismatch"],
		[{}, { asset: other }, "asset_mismatch"],
		[{ validAfter: now + 3_600, validBefore: now + 7_200 }, {}, "not_yet_valid"],
		// Long ago: the chain must have a block behind it, whenever the last one was made.
		[{ validBefore: now - 3_600 }, {}, "expired"],
	] as const) {
		const header = headerOf(await fixture.usdc.sign(payer.account, fixture.payTo, signing), accepted);
		expect(await pay(header)).toEqual(invalid(reason));
	}
});

test("what does not pass verification says why, in PAYMENT-RESPONSE too", async () => {
	const poor = await fixture.payer(1);
	const answer = await fixture.post("/x402/top-up", { "PAYMENT-SIGNATURE": await fixture.payment(poor) });
	expect(answer.status).toBe(400);
	expect(await answer.json()).toEqual({
		error: "PAYMENT_VERIFICATION_FAILED",
		message: expect.any(String),
		details: { reason: expect.stringContaining("insufficient") },
	});
	expect(decoded(answer.headers.get("payment-response"))).toMatchObject({
		success: false,
		payer: poor.address.toLowerCase(),
		transaction: "",
	});
});

test("a query that is none, in the form of these routes", async () => {
	for (const query of ["amountUsd=4.99", "amountUsd=10000.01", "amountUsd=x", "amountUsd=-5", "x402Version=3", "x402Version=0"]) {
		const answer = await fixture.post(`/x402/top-up?${query}`);
		expect([answer.status, await answer.json()]).toMatchObject([
			400,
			{ error: "INVALID_REQUEST", message: expect.any(String), issues: [{ path: [query.split("=")[0]] }] },
		]);
	}
});
