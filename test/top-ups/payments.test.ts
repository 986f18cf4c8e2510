/** Payments on a real chain with the token of Base: whatever goes wrong, the receiver has what the books credited. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { encodeAbiParameters } from "viem";
import type { TopUpOutcome } from "../../src/payments/port.ts";
import { StoreFolder } from "../../src/store/testing/store-folder.ts";
import { type FacilitatorKind, TestTopUpService } from "../support/test-top-up-service.ts";
import {
	BASE,
	base64,
	contractWallet,
	DEAR_WALLET,
	headerOf,
	randomNonce,
	startUsdcChain,
	type UsdcChain,
	YES_WALLET,
} from "../support/usdc-chain.ts";

const OTHER = "0x000000000000000000000000000000000000bEEF";
let chain: UsdcChain;

beforeAll(async () => {
	chain = await startUsdcChain();
});
afterAll(() => chain.stop());

const brief = (outcome: TopUpOutcome) =>
	outcome.kind === "refused"
		? `${outcome.code} ${outcome.reason}`
		: outcome.kind === "credited"
			? `credited ${outcome.payment.amount / 1e9}${outcome.first ? "" : " before"}`
			: outcome.kind === "ended"
				? `ended ${outcome.reason}`
				: outcome.kind;

for (const kind of ["in the server", "over HTTP"] satisfies FacilitatorKind[]) {
	describe(`with a facilitator ${kind}`, () => {
		let books: StoreFolder;
		let service: TestTopUpService;

		beforeEach(async () => {
			books = new StoreFolder();
			service = await TestTopUpService.open({ chain, books, kind });
		});
		afterEach(async () => {
			await service.stop();
			try {
				expect(await service.credited()).toBe(await chain.balance(service.payTo));
				expect((await books.audit()).ok).toBe(true);
			} finally {
				await books.remove();
			}
		});

		test("what is signed is credited, and a repeat gets the first answer", async () => {
			const payer = await chain.payer(100);
			const first = await service.topUp(headerOf(await chain.sign(payer, service.payTo, { usd: 12.34 })));
			if (first.kind !== "credited") throw new Error(brief(first));
			expect(first.payment).toMatchObject({
				walletAddress: payer.address.toLowerCase(),
				identity: `eip155:8453:${payer.address.toLowerCase()}`,
				amount: 12_340_000_000 as never,
				newBalance: 12_340_000_000 as never,
			});
			expect(first.response).toMatchObject({ success: true, network: BASE.id, payer: payer.address.toLowerCase() });
			const header = headerOf(await chain.sign(payer, service.payTo, { usd: 5 }));
			const second = await service.topUp(header);
			expect(brief(second)).toBe("credited 5");
			expect(brief(await service.topUp(headerOf(await chain.sign(payer, service.payTo, { usd: 6 }))))).toBe("credited 6");
			const repeat = await service.topUp(header);
			expect(repeat).toEqual({ ...second, first: false } as never);
			expect(service.settled).toBe(3);
		});

		test("all dialects are read", async () => {
			const payer = await chain.payer(100);
			const v1 = await chain.sign(payer, service.payTo);
			expect(brief(await service.topUp(base64({ x402Version: 1, scheme: "exact", network: "base", payload: v1 })))).toBe(
				"credited 5",
			);
			const hybrid = await chain.sign(payer, service.payTo, { usd: 10 });
			const header = base64({ x402Version: 2, scheme: "exact", network: "base", payload: hybrid });
			expect(brief(await service.topUp(header))).toBe("credited 10");
			// The same payment in another shape is the same payment.
			expect(brief(await service.topUp(headerOf(hybrid)))).toBe("credited 10 before");
			const url = headerOf(await chain.sign(payer, service.payTo.toLowerCase()))
				.replaceAll("+", "-")
				.replaceAll("/", "_");
			expect(brief(await service.topUp(url.replace(/=+$/, "")))).toBe("credited 5");
		});

		test("the same header ten times at once is one payment, and one call of them made it", async () => {
			const header = headerOf(await chain.sign(await chain.payer(), service.payTo));
			const outcomes = await Promise.all(Array.from({ length: 10 }, () => service.topUp(header)));
			expect(outcomes.map(brief).sort()).toEqual(["credited 5", ...Array.from({ length: 9 }, () => "credited 5 before")]);
			expect(new Set(outcomes.map((outcome) => (outcome.kind === "credited" ? outcome.payment.paymentId : ""))).size).toBe(1);
			expect(service.settled).toBe(1);
		});

		test("eight payers at once all have their money", async () => {
			const payers = [];
			for (let number = 0; number < 8; number++) payers.push(await chain.payer());
			const headers = await Promise.all(payers.map(async (payer) => headerOf(await chain.sign(payer, service.payTo))));
			expect((await Promise.all(headers.map((header) => service.topUp(header)))).map(brief)).toEqual(
				Array.from({ length: 8 }, () => "credited 5"),
			);
		});

		test("a payment that does not fit what is offered is refused, and nothing is sent", async () => {
			const payer = await chain.payer(20_000);
			const now = Math.floor(Date.now() / 1_000);
			const sign = (signing: Parameters<UsdcChain["sign"]>[2] = {}) => chain.sign(payer, service.payTo, signing);
			const refused = async (header: string) => brief(await service.topUp(header)).replace("X402_INVALID_PAYMENT ", "");
			expect(await refused(headerOf(await sign(), { network: "eip155:1" }))).toBe("network_mismatch");
			expect(await refused(headerOf(await sign(), { network: "eip155:84532" }))).toBe("network_mismatch");
			expect(await refused(headerOf(await sign(), { asset: OTHER }))).toBe("asset_mismatch");
			expect(await refused(headerOf(await sign(), { payTo: OTHER }))).toBe("recipient_mismatch");
			expect(await refused(headerOf(await sign({ to: OTHER }), { payTo: service.payTo }))).toBe("recipient_mismatch");
			expect(await refused(headerOf(await sign(), { scheme: "upto" }))).toBe("unsupported_scheme");
			expect(await refused(headerOf(await sign({ usd: 4.999999 })))).toBe("amount_below_minimum");
			expect(await refused(headerOf(await sign({ usd: 10_000.000001 })))).toBe("amount_above_maximum");
			expect(await refused(headerOf(await sign({ usd: 7 }), { amount: "5000000" }))).toBe("amount_mismatch");
			expect(await refused(headerOf(await sign({ validAfter: now + 60 })))).toBe("not_yet_valid");
			expect(await refused(headerOf(await sign({ validBefore: now + 3 })))).toBe("expired");
			for (const garbage of [
				"",
				"{}",
				"%%%",
				base64(null),
				base64([]),
				base64({}),
				base64({ x402Version: 2 }),
				"A".repeat(20_000),
			])
				expect(await refused(garbage)).toBe("malformed_header");
			const signed = await sign();
			for (const changed of [
				{ x402Version: 2, accepted: null, payload: signed },
				{ x402Version: 3, scheme: "exact", network: "base", payload: signed },
				{ x402Version: 1, scheme: "exact", network: "base", payload: { ...signed, signature: "0x1" } },
				{ x402Version: 1, scheme: "exact", network: 8453, payload: signed },
				{
					x402Version: 1,
					scheme: "exact",
					network: "base",
					payload: { ...signed, authorization: { ...signed.authorization, value: 5e6 } },
				},
				{
					x402Version: 1,
					scheme: "exact",
					network: "base",
					payload: { ...signed, authorization: { ...signed.authorization, nonce: "0x12" } },
				},
			])
				expect(await refused(base64(changed))).toBe("malformed_header");
			expect(service.settled).toBe(0);
		});

		test("the receiver cannot pay itself: nothing would come", async () => {
			const payer = await chain.payer(20);
			const own = await TestTopUpService.open({ chain, books, kind, payTo: payer.address });
			try {
				for (const executed of [false, true]) {
					const signed = await chain.sign(payer, own.payTo);
					if (executed) await chain.execute(signed);
					expect(brief(await own.topUp(headerOf(signed)))).toBe("X402_INVALID_PAYMENT recipient_mismatch");
				}
				expect([own.settled, await own.credited()]).toEqual([0, 0]);
			} finally {
				await own.stop();
			}
		});

		test("what the token would refuse is refused before it is sent", async () => {
			const payer = await chain.payer(20);
			const refused = async (header: string) => brief(await service.topUp(header));
			const forged = "PAYMENT_VERIFICATION_FAILED invalid_exact_evm_signature";
			expect(await refused(headerOf(await chain.sign(payer, service.payTo, { chainId: 84_532 })))).toBe(forged);
			expect(await refused(headerOf(await chain.sign(payer, service.payTo, { asset: OTHER })))).toBe(forged);
			const signed = await chain.sign(payer, service.payTo);
			const other = { ...signed, authorization: { ...signed.authorization, value: "6000000" } };
			expect(await refused(headerOf(other))).toBe(forged);
			const poor = headerOf(await chain.sign(payer, service.payTo, { usd: 21 }));
			expect(await refused(poor)).toBe("PAYMENT_VERIFICATION_FAILED invalid_exact_evm_insufficient_balance");
			expect(service.settled).toBe(0);
			await chain.write("mint", [payer.address, 50_000_000n]);
			expect(await refused(poor)).toBe("credited 21");
		});

		test("another signature over a known nonce is refused, and takes nothing from the payer", async () => {
			const payer = await chain.payer(100);
			const nonce = randomNonce();
			const thief = await chain.payer(100);
			const real = await chain.sign(payer, service.payTo, { nonce });
			const forged = { ...real, signature: (await chain.sign(thief, service.payTo, { nonce })).signature };
			expect(brief(await service.topUp(headerOf(forged)))).toBe("PAYMENT_VERIFICATION_FAILED invalid_exact_evm_signature");
			expect(brief(await service.topUp(headerOf(real)))).toBe("credited 5");
			expect(brief(await service.topUp(headerOf(forged)))).toBe("X402_INVALID_PAYMENT signature_mismatch");
			expect(brief(await service.topUp(headerOf(real)))).toBe("credited 5 before");
		});

		test("a facilitator that is down leaves the payment to be sent again, at each step", async () => {
			const payer = await chain.payer(100);
			const sign = async () => headerOf(await chain.sign(payer, service.payTo));
			const [before, between, after] = [await sign(), await sign(), await sign()];
			service.fault = "verify";
			expect(brief(await service.topUp(before))).toBe("unavailable");
			service.fault = "before-broadcast";
			expect(brief(await service.topUp(between))).toBe("pending");
			service.fault = "after-broadcast";
			// The chain has it, whatever the facilitator could not say any more.
			expect(brief(await service.topUp(after))).toBe("credited 5");
			service.fault = null;
			expect(brief(await service.topUp(before))).toBe("credited 5");
			expect(brief(await service.topUp(between))).toBe("credited 5 before");
			expect(brief(await service.topUp(after))).toBe("credited 5 before");
		});

		test("what somebody else executed is credited from the chain, to whoever signed", async () => {
			const payer = await chain.payer(100);
			const signed = await chain.sign(payer, service.payTo);
			await chain.execute(signed);
			expect(brief(await service.topUp(headerOf(signed)))).toBe("credited 5 before");
			expect(service.settled).toBe(0);
		});

		test("what somebody else executed in time is credited when its header comes too late; what nobody did is not", async () => {
			const payer = await chain.payer(100);
			// Five seconds are enough for the chain, and fewer than a settlement needs.
			const soon = () => ({ validBefore: Math.floor(Date.now() / 1_000) + 5 });
			const signed = await chain.sign(payer, service.payTo, soon());
			await chain.execute(signed);
			const header = headerOf(signed);
			expect([brief(await service.topUp(header)), brief(await service.topUp(header))]).toEqual(
				Array(2).fill("credited 5 before"),
			);
			const expired = "X402_INVALID_PAYMENT expired";
			const late = await chain.sign(payer, service.payTo, soon());
			expect(brief(await service.topUp(headerOf(late)))).toBe(expired);
			const elsewhere = await chain.sign(payer, service.payTo, soon());
			await chain.cancel(payer, elsewhere.authorization.nonce as `0x${string}`);
			expect(brief(await service.topUp(headerOf(elsewhere)))).toBe(expired);
			const forged = { ...signed, authorization: { ...signed.authorization, from: OTHER } };
			expect(brief(await service.topUp(headerOf(forged)))).toBe(expired);
			expect(service.settled).toBe(0);
		});

		test("a nonce that was cancelled or spent elsewhere credits nothing", async () => {
			const payer = await chain.payer(100);
			const nonce = randomNonce();
			const cancelled = await chain.sign(payer, service.payTo, { nonce });
			await chain.cancel(payer, nonce);
			expect(brief(await service.topUp(headerOf(cancelled)))).toBe("ended authorization_used_elsewhere");
			const spent = await chain.sign(payer, service.payTo);
			await chain.execute(await chain.sign(payer, OTHER, { nonce: spent.authorization.nonce as `0x${string}`, usd: 5 }));
			expect(brief(await service.topUp(headerOf(spent)))).toBe("ended authorization_used_elsewhere");
			expect(service.settled).toBe(0);
		});

		test("a contract that would make the settlement dear is refused before it is sent", async () => {
			const key = await chain.payer(0);
			const wallet = await contractWallet(chain, DEAR_WALLET, 50);
			const { authorization, signature } = await chain.sign(key, service.payTo);
			const dear = { authorization: { ...authorization, from: wallet }, signature: `${signature}01` } as const;
			expect(brief(await service.topUp(headerOf(dear)))).toStartWith("PAYMENT_VERIFICATION_FAILED ");
			expect(service.settled).toBe(0);
			expect(await chain.balance(wallet)).toBe(50_000_000);
		});

		test("a contract that is a wallet pays, one that is not there yet does not", async () => {
			const key = await chain.payer(0);
			const wallet = await contractWallet(chain, YES_WALLET, 50);
			const signed = await chain.sign(key, service.payTo, { usd: 9 });
			const authorization = { ...signed.authorization, from: wallet };
			const longer = { authorization, signature: `${signed.signature}01` } as const;
			expect(brief(await service.topUp(headerOf(longer)))).toBe("credited 9");
			const failed = "PAYMENT_VERIFICATION_FAILED invalid_exact_evm";
			const wrapped = (digits: string) => ({ ...signed, signature: `0x${digits}${"6492".repeat(16)}` as const });
			expect(brief(await service.topUp(headerOf(wrapped("00".repeat(32)))))).toBe(`${failed}_signature`);
			const parts = encodeAbiParameters([{ type: "address" }, { type: "bytes" }, { type: "bytes" }], [OTHER, "0x12", "0x34"]);
			expect(brief(await service.topUp(headerOf(wrapped(parts.slice(2)))))).toMatch(/^PAYMENT_VERIFICATION_FAILED .*factory/);
			// It is deployed by now: the signature inside is what counts.
			const { authorization: next } = await chain.sign(key, service.payTo);
			const deployed = { authorization: { ...next, from: wallet }, signature: wrapped(parts.slice(2)).signature };
			expect(brief(await service.topUp(headerOf(deployed)))).toBe("credited 5");
		});
	});
}
