/** The life of a program that has a wallet and nothing else, with the published clients: no key, no account, no operator. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { createSIWxPayload, encodeSIWxHeader } from "@x402/extensions/sign-in-with-x";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { decoded, type PayingGateway, startPayingGateway } from "../support/paying-gateway.ts";
import { RPC_CALL_NANO } from "../support/wallet-gateway.ts";

let fixture: PayingGateway;
beforeAll(async () => {
	fixture = await startPayingGateway();
});
afterAll(() => fixture.stop());

type Challenge = Parameters<typeof createSIWxPayload>[0];
interface Required {
	readonly extensions: { readonly "sign-in-with-x": { readonly info: Challenge; readonly supportedChains: readonly object[] } };
}
interface Transaction {
	readonly amount: number;
	readonly balanceAfter: number;
	readonly type: string;
	readonly requestId: string | null;
}

const nano = (usd: number) => Math.round(usd * 1e9);

test("402, sign in, top up, spend until the money is gone, 402, top up, and a history that adds up", async () => {
	const payer = await fixture.payer(100);
	const fetching = wrapFetchWithPayment(
		fetch,
		x402Client.fromConfig({
			schemes: [{ network: "eip155:*", client: new ExactEvmScheme(payer.account) }],
			spendControls: { maxAmountPerPayment: "$20" },
		}),
	);
	const topUp = async () => {
		const answer = await fetching(`${fixture.gate.url}/api/v1/x402/top-up`, { method: "POST" });
		return ((await answer.json()) as { data: { newBalance: number } }).data.newBalance;
	};

	// It knows the address alone: the first answer tells the rest.
	const first = await fixture.rpc({});
	expect(first.status).toBe(402);
	const { info, supportedChains } = decoded<Required>(first.headers.get("payment-required")).extensions["sign-in-with-x"];
	const payload = await createSIWxPayload({ ...info, ...supportedChains[0] } as Challenge, payer.account, first.url);
	const signedIn = { "SIGN-IN-WITH-X": encodeSIWxHeader(payload) };
	const broke = await fixture.rpc(signedIn);
	expect([broke.status, await broke.json()]).toMatchObject([402, { reason: "insufficient_balance", currentBalanceUsd: 0 }]);
	expect(await topUp()).toBe(5);

	// Chats and calls of a chain as far as the money goes: dear chats first, then cheaper ones, down to the floor.
	const charged = new Map<string, number>();
	const spend = async (answer: Response, price: number): Promise<boolean> => {
		if (answer.status === 200) charged.set(answer.headers.get("x-request-id") ?? "", price);
		await answer.arrayBuffer();
		return answer.status === 200;
	};
	const spent = () => [...charged.values()].reduce((sum, price) => sum + price, 0);
	for (const output of [40_000, 9_000]) {
		const price = 10 * 1_000 + output * 10_000;
		while (
			(await spend(await fixture.chat(signedIn, output), price)) &&
			(await spend(await fixture.rpc(signedIn), RPC_CALL_NANO))
		);
	}
	const left = 5_000_000_000 - spent();
	expect(left).toBeGreaterThan(0);
	expect(left).toBeLessThan(100_000_000);

	const ended = await fixture.rpc(signedIn);
	expect(ended.status).toBe(402);
	const { currentBalanceUsd } = (await ended.json()) as { currentBalanceUsd: number };
	expect(nano(currentBalanceUsd)).toBe(left);
	expect(nano(await topUp())).toBe(left + 5_000_000_000);
	expect(await spend(await fixture.chat(signedIn, 40_000), 400_010_000)).toBe(true);

	const history = await fixture.get(`/x402/transactions/${payer.address}?limit=100`, signedIn);
	const { data } = (await history.json()) as { data: { currentBalance: number; transactions: Transaction[] } };
	expect(nano(data.currentBalance)).toBe(10_000_000_000 - spent());
	let balance = nano(data.currentBalance);
	for (const { amount, balanceAfter } of data.transactions) {
		expect(nano(balanceAfter)).toBe(balance);
		balance -= nano(amount);
	}
	expect(balance).toBe(0);
	const charges = data.transactions.filter(({ type }) => type === "CHARGE");
	expect(new Map(charges.map(({ requestId, amount }) => [requestId ?? "", -nano(amount)]))).toEqual(charged);
	expect(data.transactions.filter(({ type }) => type === "TOP_UP")).toHaveLength(2);
	expect(await fixture.received()).toBe(10_000_000_000);
});
