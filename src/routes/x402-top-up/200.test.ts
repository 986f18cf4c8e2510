import { afterAll, beforeAll, expect, test } from "bun:test";
import { decoded, type PayingGateway, startPayingGateway } from "../../../test/support/paying-gateway.ts";
import { BASE, base64 } from "../../../test/support/usdc-chain.ts";

let fixture: PayingGateway;
beforeAll(async () => {
	fixture = await startPayingGateway();
});
afterAll(async () => {
	const { sum } = await fixture.gate.admin.db
		.selectFrom("top_ups")
		.select(({ fn }) => fn.sum<bigint>("amount").as("sum"))
		.where("state", "=", "credited")
		.executeTakeFirstOrThrow();
	expect(Number(sum)).toBe(await fixture.received());
	await fixture.stop();
});

interface Credited {
	readonly success: boolean;
	readonly data: {
		readonly walletAddress: string;
		readonly amountCredited: number;
		readonly newBalance: number;
		readonly paymentId: string;
	};
}

test("credits the payer what was signed, with PAYMENT-RESPONSE; the next payment adds to it", async () => {
	const payer = await fixture.payer();
	const answer = await fixture.post("/x402/top-up", { "PAYMENT-SIGNATURE": await fixture.payment(payer, { usd: 12.34 }) });
	expect(answer.status).toBe(200);
	const { success, data } = (await answer.json()) as Credited;
	expect(success).toBe(true);
	expect(data).toEqual({
		walletAddress: payer.address.toLowerCase(),
		amountCredited: 12.34,
		newBalance: 12.34,
		paymentId: expect.stringMatching(/^payment_/) as unknown as string,
	});
	expect(decoded(answer.headers.get("payment-response"))).toEqual({
		success: true,
		payer: payer.address.toLowerCase(),
		transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
		network: BASE.id,
	});
	expect(answer.headers.get("x-payment-response")).toBeNull();
	expect(answer.headers.get("idempotent-replayed")).toBeNull();
	const second = await fixture.post("/x402/top-up", { "X-402-Payment": await fixture.payment(payer) });
	expect(await second.json()).toMatchObject({ data: { amountCredited: 5, newBalance: 17.34 } });
});

test("the same header again is answered as the first time, whatever was spent since, and credits nothing", async () => {
	const payer = await fixture.payer();
	const header = await fixture.payment(payer);
	const first = await fixture.post("/x402/top-up", { "PAYMENT-SIGNATURE": header });
	const body = (await first.json()) as Credited;
	const signedIn = await payer.signIn(fixture.gate.url);
	expect((await fixture.rpc(signedIn)).status).toBe(200);
	for (const name of ["PAYMENT-SIGNATURE", "X-402-Payment", "X-PAYMENT"]) {
		const again = await fixture.post("/x402/top-up", { [name]: header });
		expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
		expect(await again.json()).toEqual(body);
	}
	const { data } = (await (await fixture.get(`/x402/balance/${payer.address}`, signedIn)).json()) as {
		data: { balanceUsd: number };
	};
	expect(data.balanceUsd).toBe(4.9999875);
	const history = await fixture.get(`/x402/transactions/${payer.address}`, signedIn);
	const { transactions } = ((await history.json()) as { data: { transactions: { type: string; amount: number }[] } }).data;
	expect(transactions.map(({ type, amount }) => [type, amount])).toEqual([
		["CHARGE", -0.0000125],
		["TOP_UP", 5],
	]);
});

test("ten at once with one header get one credit, and all the same answer", async () => {
	const payer = await fixture.payer();
	const header = await fixture.payment(payer);
	const answers = await Promise.all(
		Array.from({ length: 10 }, () => fixture.post("/x402/top-up", { "PAYMENT-SIGNATURE": header })),
	);
	expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
	const bodies = await Promise.all(answers.map((answer) => answer.text()));
	expect(new Set(bodies).size).toBe(1);
	expect(answers.filter(({ headers }) => headers.get("idempotent-replayed") === null)).toHaveLength(1);
	expect(await fixture.usdc.balance(payer.address)).toBe(995_000_000);
});

test("reads version 1, and version 2 in the fields of version 1, under X-PAYMENT", async () => {
	for (const x402Version of [1, 2]) {
		const payer = await fixture.payer();
		const payload = await fixture.usdc.sign(payer.account, fixture.payTo);
		const answer = await fixture.post("/x402/top-up", {
			"X-PAYMENT": base64({ x402Version, scheme: "exact", network: "base", payload }),
		});
		expect(answer.status).toBe(200);
		expect(answer.headers.get("x-payment-response")).toBe(answer.headers.get("payment-response"));
		expect(await answer.json()).toMatchObject({ data: { amountCredited: 5 } });
	}
});

test("needs no key and no sign-in, and ignores those that come", async () => {
	const payer = await fixture.payer();
	const answer = await fixture.post("/x402/top-up", {
		"PAYMENT-SIGNATURE": await fixture.payment(payer),
		"X-Sign-In-With-X": "nonsense",
		authorization: "Bearer nonsense",
	});
	expect(answer.status).toBe(200);
});
