/** The server with wallets, by variables alone. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { generatePrivateKey } from "viem/accounts";
import { decoded } from "../support/paying-gateway.ts";
import { serve, turnpike } from "../support/served.ts";
import { headerOf, startUsdcChain, type UsdcChain } from "../support/usdc-chain.ts";
import { testWallet, walletOf } from "../support/wallets.ts";

const PAY_TO = "0x00000000000000000000000000000000000000A1";
let usdc: UsdcChain;
beforeAll(async () => {
	usdc = await startUsdcChain();
});
afterAll(() => usdc.stop());

test("a receiver alone makes offers, and so does one whose key has nothing for fees; what is missing is told", async () => {
	const penniless = { TURNPIKE_X402_RPC: usdc.url, TURNPIKE_X402_KEY: generatePrivateKey() };
	for (const [more, missing] of [
		[{}, "neither url nor key"],
		[penniless, "nothing to pay the fees"],
	] as const) {
		const served = await serve({ env: { TURNPIKE_X402_PAY_TO: PAY_TO, ...more } });
		try {
			const answer = await fetch(`${served.url}/api/v1/chat/completions`, { method: "POST" });
			expect([answer.status, await answer.json()]).toMatchObject([402, { accepts: [{ payTo: PAY_TO }] }]);
			expect(served.stderr()).toContain("wallets cannot pay");
			expect(served.stderr()).toContain(missing);
		} finally {
			served.kill("SIGTERM");
			await served.exited;
			served.remove();
		}
	}
});

test("with a chain and a key wallets top up; the operator lists, shows, refunds and reconciles them", async () => {
	const { key } = await usdc.feePayer();
	const publicUrl = "https://gate.example.test";
	const env = {
		TURNPIKE_X402_PAY_TO: PAY_TO,
		TURNPIKE_X402_RPC: usdc.url,
		TURNPIKE_X402_KEY: key,
		TURNPIKE_PUBLIC_URL: publicUrl,
		TURNPIKE_RPC_BASE_MAINNET: usdc.url,
	};
	const served = await serve({ env });
	const command = async (...args: string[]) => turnpike([...args, "--data", served.dataDir], env);
	try {
		const payer = walletOf(await usdc.payer());
		const api = `${served.url}/api/v1`;
		const header = headerOf(await usdc.sign(payer.account, PAY_TO, { usd: 6 }));
		const paid = await fetch(`${api}/x402/top-up`, { method: "POST", headers: { "PAYMENT-SIGNATURE": header } });
		expect(paid.status).toBe(200);
		expect(decoded(paid.headers.get("payment-response"))).toMatchObject({ success: true });
		const signedIn = await payer.signIn(publicUrl);
		const called = await fetch(`${api}/crypto/rpc/base-mainnet`, {
			method: "POST",
			headers: { ...signedIn, "content-type": "application/json" },
			body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}',
		});
		expect(await called.json()).toMatchObject({ result: "0x2105" });
		const elsewhere = await fetch(`${api}/x402/balance/${payer.address}`, { headers: await payer.signIn(served.url) });
		expect(elsewhere.status).toBe(401);
		const read = async () => (await fetch(`${api}/x402/balance/${payer.address}`, { headers: signedIn })).json();
		expect(await read()).toMatchObject({ data: { balanceUsd: 5.9999875 } });

		const requestId = called.headers.get("x-request-id") ?? "";
		const refunded = await command("wallets", "refund", requestId);
		expect([refunded.code, refunded.stdout]).toEqual([0, expect.stringContaining("0.0000125 USD refunded")]);
		expect(await read()).toMatchObject({ data: { balanceUsd: 6 } });
		expect((await command("wallets", "refund", requestId)).stdout).toContain("nothing was added");

		const address = payer.address.toLowerCase();
		const listed = await command("wallets", "list", "--json");
		expect(JSON.parse(listed.stdout)).toMatchObject([
			{ wallet: address, balanceUsd: "6.0000", toppedUpUsd: "6.0000", topUps: 1 },
		]);
		expect((await command("wallets", "list")).stdout).toContain(address);
		const shown = await command("wallets", "show", payer.address, "--json");
		const { history } = JSON.parse(shown.stdout) as { history: { type: string; amountUsd: string; requestId: string }[] };
		expect(history.map(({ type, amountUsd }) => [type, amountUsd])).toEqual([
			["REFUND", "0.0000125"],
			["CHARGE", "-0.0000125"],
			["TOP_UP", "6.0000"],
		]);
		expect((await command("wallets", "show", payer.address)).stdout).toContain(requestId);
		expect(await command("wallets", "show", testWallet().address)).toMatchObject({
			code: 1,
			stderr: expect.stringContaining("topped up"),
		});
		expect((await command("wallets", "show", "nobody")).code).toBe(1);
		expect((await command("wallets", "show", payer.address, "--limit", "0")).code).toBe(1);

		const reconciled = await command("x402", "reconcile");
		expect([reconciled.code, reconciled.stdout]).toEqual([0, expect.stringContaining("1 credited")]);
		expect(reconciled.stdout).toContain("The books and the chain agree");
		expect((await command("audit")).code).toBe(0);
		const doctor = await command("doctor", "--json");
		expect(JSON.parse(doctor.stdout)).toContainEqual({ name: "top-ups", state: "ok", text: expect.stringContaining(PAY_TO) });
	} finally {
		served.kill("SIGTERM");
		await served.exited;
		served.remove();
	}
});

test("reconcile without a receiver, and without its chain, says so", async () => {
	const served = await serve();
	served.kill("SIGTERM");
	await served.exited;
	try {
		const none = await turnpike(["x402", "reconcile", "--data", served.dataDir]);
		expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining("TURNPIKE_X402_PAY_TO") });
		const env = { TURNPIKE_X402_PAY_TO: PAY_TO, TURNPIKE_X402_RPC: "http://127.0.0.1:9" };
		const down = await turnpike(["x402", "reconcile", "--data", served.dataDir], env);
		expect(down).toMatchObject({ code: 1, stderr: expect.stringContaining("cannot be used") });
	} finally {
		served.remove();
	}
});

test("a start is refused where the receiver's checksum is wrong, or the key is none", async () => {
	const facilitator = { TURNPIKE_X402_RPC: usdc.url, TURNPIKE_X402_KEY: (await usdc.feePayer()).key };
	for (const [env, text] of [
		[{ ...facilitator, TURNPIKE_X402_PAY_TO: "0x52908400098527886E0F7030069857D2E4169Ee7" }, "checksum"],
		[{ ...facilitator, TURNPIKE_X402_PAY_TO: PAY_TO, TURNPIKE_X402_KEY: "0".repeat(64) }, "is no private key"],
	] as const) {
		const served = await serve({ env, waitFor: "nothing" });
		try {
			expect(await served.exited).toBe(78);
			expect(served.stderr()).toContain(text);
		} finally {
			served.remove();
		}
	}
});

test("where the node is of another chain payments are refused, and the rest goes on", async () => {
	const { key } = await usdc.feePayer();
	const env = { TURNPIKE_X402_PAY_TO: PAY_TO, TURNPIKE_X402_RPC: usdc.url, TURNPIKE_X402_KEY: key };
	const served = await serve({ env, config: { x402: { networks: { "base-sepolia": {} } } } });
	try {
		const topUp = `${served.url}/api/v1/x402/top-up`;
		expect((await fetch(topUp, { method: "POST" })).status).toBe(402);
		const payer = await usdc.payer();
		const accepted = { network: "eip155:84532", asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e" };
		const header = headerOf(await usdc.sign(payer, PAY_TO), accepted);
		const refused = await fetch(topUp, { method: "POST", headers: { "PAYMENT-SIGNATURE": header } });
		expect([refused.status, await refused.json()]).toMatchObject([503, { error: "X402_FACILITATOR_UNAVAILABLE" }]);
		expect(served.stderr()).toContain("the node answers for chain 8453, not for chain 84532");
	} finally {
		served.kill("SIGTERM");
		await served.exited;
		served.remove();
	}
});
