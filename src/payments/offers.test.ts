import { describe, expect, test } from "bun:test";
import { decodePaymentRequiredHeader, encodePaymentRequiredHeader } from "@x402/core/http";
import { PaymentRequiredV1Schema, PaymentRequiredV2Schema } from "@x402/core/schemas";
import { testConfig } from "../../test/support/running-gateway.ts";
import { ConfiguredOffers } from "./offers.ts";

const PAY_TO = "0x000000000000000000000000000000000000bEEF";
const resource = { url: "https://api.example.test/api/v1/x402/top-up", description: "A top-up", mimeType: "application/json" };

function offers(x402: object = {}, feePayer: string | null = null): ConfiguredOffers {
	return new ConfiguredOffers(testConfig({ x402: { payTo: PAY_TO, ...x402 } }, "/nowhere").x402, () => feePayer);
}

test("an offer of version 2 is what its clients read", () => {
	const offer = offers().v2({ resource, error: "pay", extensions: { a: { info: {} } } });
	expect(PaymentRequiredV2Schema.safeParse(offer).success).toBe(true);
	expect(offer.accepts).toEqual([
		{
			scheme: "exact",
			network: "eip155:8453",
			amount: "5000000",
			asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
			payTo: PAY_TO,
			maxTimeoutSeconds: 300,
			extra: { name: "USD Coin", version: "2" },
		},
	]);
	expect(decodePaymentRequiredHeader(encodePaymentRequiredHeader(offer as never)) as unknown).toEqual(offer);
});

test("an offer of version 1 is what its clients read", () => {
	const offer = offers({ networks: { "base-sepolia": {} } }).v1({ resource, amountUsd: 7.5 });
	expect(PaymentRequiredV1Schema.safeParse(offer).success).toBe(true);
	expect(offer.accepts.map(({ network, maxAmountRequired, extra }) => [network, maxAmountRequired, extra.name])).toEqual([
		["base", "7500000", "USD Coin"],
		["base-sepolia", "7500000", "USDC"],
	]);
});

test("an amount within the limits is offered, any other is refused", () => {
	const amountOf = (amountUsd: number) => offers().v2({ resource, amountUsd }).accepts[0]?.amount;
	expect([5, 12.345678, 10_000].map(amountOf)).toEqual(["5000000", "12345678", "10000000000"]);
	for (const amount of [4.99, 10_000.01, 0, -5, Number.NaN, Number.POSITIVE_INFINITY])
		expect(() => amountOf(amount)).toThrow(RangeError);
});

describe("on Solana", () => {
	const payTo = "So1anaReceiver11111111111111111111111111111";
	const feePayer = "FeePayer1111111111111111111111111111111111";
	const both = (known: string | null) => offers({ solana: { payTo } }, known);

	test("an offer names who pays the fee, in both versions", () => {
		const offer = both(feePayer);
		expect(offer.v2({ resource }).accepts[1]).toEqual({
			scheme: "exact",
			network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
			amount: "5000000",
			asset: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
			payTo,
			maxTimeoutSeconds: 300,
			extra: { feePayer },
		});
		expect(PaymentRequiredV2Schema.safeParse(offer.v2({ resource })).success).toBe(true);
		const first = offer.v1({ resource });
		expect(PaymentRequiredV1Schema.safeParse(first).success).toBe(true);
		expect(first.accepts.map(({ network }) => network)).toEqual(["base", "solana"]);
		expect(offer.chains).toEqual(["base", "solana"]);
	});

	test("while nobody knows who pays the fee, other networks are offered alone", () => {
		expect(
			both(null)
				.v2({ resource })
				.accepts.map(({ network }) => network),
		).toEqual(["eip155:8453"]);
		const alone = new ConfiguredOffers(testConfig({ x402: { solana: { payTo } } }, "/nowhere").x402, () => null);
		expect(alone.v2({ resource }).accepts).toMatchObject([{ payTo, extra: {} }]);
	});

	test("instructions name the receiver of the wallet's own chain", () => {
		const offer = both(feePayer);
		expect(offer.receiverFor("solana:x")).toMatchObject({ payTo, network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp" });
		expect(offer.receiverFor("eip155:8453:0x1")).toMatchObject({ payTo: PAY_TO, network: "eip155:8453" });
		expect(offers().receiverFor("solana:x")).toMatchObject({ payTo: PAY_TO });
	});
});
