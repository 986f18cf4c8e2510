import { expect, test } from "bun:test";
import fc from "fast-check";
import { decodePayment, MalformedPayment } from "./payment.ts";

const FROM = "0x52908400098527886E0F7030069857D2E4169EE7";
const authorization = {
	from: FROM,
	to: "0x000000000000000000000000000000000000bEEF",
	value: "0005000000",
	validAfter: "0",
	validBefore: "2000000000",
	nonce: `0x${"AB".repeat(32)}`,
};
const payload = { signature: `0x${"CD".repeat(64)}00`, authorization };
const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");

test("one payment is the same in every dialect, in any case of its letters", () => {
	const v1 = decodePayment(base64({ x402Version: 1, scheme: "exact", network: "base", payload }));
	expect(v1).toEqual({
		scheme: "exact",
		network: "eip155:8453",
		asset: null,
		payTo: null,
		amount: null,
		signed: {
			kind: "authorization",
			authorization: {
				...authorization,
				from: FROM.toLowerCase(),
				to: authorization.to.toLowerCase(),
				value: "5000000",
				nonce: authorization.nonce.toLowerCase(),
			},
			signature: `0x${"cd".repeat(64)}1b`,
		},
		payer: FROM.toLowerCase(),
		units: "5000000",
		nonce: authorization.nonce.toLowerCase(),
	});
	expect(decodePayment(base64({ x402Version: 2, scheme: "exact", network: "eip155:8453", payload }))).toEqual(v1);
	const accepted = { scheme: "exact", network: "eip155:8453", amount: "5000000", asset: FROM, payTo: FROM };
	expect(decodePayment(base64({ x402Version: 2, accepted, payload })).signed).toEqual(v1.signed);
});

test("whatever stands in a header, it is a payment or malformed", () => {
	const transaction = fc.uint8Array({ maxLength: 300 }).map((bytes) => ({ transaction: Buffer.from(bytes).toString("base64") }));
	const members = fc.dictionary(
		fc.constantFrom("x402Version", "scheme", "network", "accepted", "payload", "__proto__"),
		fc.oneof(fc.jsonValue(), fc.constant(payload), transaction, fc.constantFrom("base", "solana"), fc.constantFrom(1, 2)),
	);
	const text = fc.oneof(fc.string(), fc.base64String(), members.map(base64));
	fc.assert(
		fc.property(text, (header) => {
			try {
				decodePayment(header);
			} catch (error) {
				expect(error).toBeInstanceOf(MalformedPayment);
			}
		}),
		{ numRuns: 500 },
	);
});
