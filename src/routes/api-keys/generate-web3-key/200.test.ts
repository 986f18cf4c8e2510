import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { serializeErc6492Signature } from "viem";
import { taken } from "../../../../test/support/keys-gateway.ts";
import { type StakingChain, startStakingChain, TOKEN } from "../../../../test/support/staking-chain/index.ts";
import { createWallet, startWeb3Gateway, type Web3Gateway } from "../../../../test/support/web3-gateway.ts";
import { ManualClock } from "../../../telemetry/clock.ts";

const DAY_SECONDS = 86_400;

describe("where the operator sets stakes", () => {
	let web3: Web3Gateway;

	beforeAll(async () => {
		web3 = await startWeb3Gateway();
	});
	afterAll(() => web3.stop());

	test("who signs a token with a staker's wallet gets a key of its account, that works", async () => {
		const { wallet, accountId } = await web3.staker();
		const answer = await web3.post(wallet);
		expect(answer.headers.get("cache-control")).toBe("no-store");
		const { data, success } = await taken<{ data: { id: string; apiKey: string }; success: boolean }>(answer);
		expect(success).toBe(true);
		expect(Object.keys(data).sort()).toEqual(
			["apiKey", "apiKeyType", "consumptionLimit", "description", "expiresAt", "id", "limitPeriod"].sort(),
		);
		expect(data).toMatchObject({ apiKeyType: "INFERENCE", description: "Web3 API Key", limitPeriod: "EPOCH", expiresAt: null });
		expect(data.apiKey).toMatch(/^sk_inf_[0-9A-Za-z]{43}$/);
		expect((await web3.owner(data.id)).id).toBe(accountId);
		const state = await web3.gate.call("GET", "/api_keys/rate_limits", undefined, { authorization: `Bearer ${data.apiKey}` });
		expect(state.status).toBe(200);
	});

	test("a token is a JWT of fifteen minutes, and needs no credential, right or wrong", async () => {
		const path = "/api_keys/generate_web3_key";
		for (const authorization of ["", "Bearer nonsense"]) {
			const answer = await web3.gate.call("GET", path, undefined, { authorization });
			expect(answer.headers.get("cache-control")).toBe("no-store");
			const { data } = await taken<{ data: { token: string } }>(answer);
			const [header = "", claims = ""] = data.token.split(".");
			const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
			expect(read(header)).toEqual({ alg: "HS256", typ: "JWT" });
			const { iat, exp, jti, ...rest } = read(claims);
			expect(rest).toEqual({ iss: "turnpike", aud: "generate_web3_key" });
			expect(exp - iat).toBe(900);
			expect(jti).toMatch(/^[0-9a-f-]{36}$/);
		}
	});

	test("what is given of the key is kept, by a wallet in any way of writing", async () => {
		const { wallet } = await web3.staker();
		const given = {
			apiKeyType: "ADMIN",
			description: "mine",
			consumptionLimit: { usd: 5, diem: 0.5 },
			limitPeriod: "MONTH",
			expiresAt: "2099-01-01",
			restrictions: { models: ["a"] },
		};
		const lower = await web3.mint(wallet, { ...given, address: wallet.address.toLowerCase() });
		expect(lower).toMatchObject({
			...given,
			consumptionLimit: { usd: 5, diem: 0.5, vcu: null },
			expiresAt: "2099-01-01T00:00:00.000Z",
			restrictions: { models: ["a"], endpoints: null, networks: null, addresses: null },
		});
		expect(lower.apiKey).toStartWith("sk_adm_");
		const nulls = { description: null, consumptionLimit: null, limitPeriod: null, expiresAt: null, restrictions: null };
		expect(await web3.mint(wallet, nulls)).toMatchObject({ description: "Web3 API Key", limitPeriod: "EPOCH" });
	});

	test("any stake above nothing is enough, also one that counts from tomorrow on", async () => {
		const { wallet } = await web3.staker("0.000000001");
		expect((await web3.post(wallet)).status).toBe(200);
	});
});

describe("where a chain says stakes", () => {
	let chain: StakingChain;
	let web3: Web3Gateway;
	const clock = new ManualClock(Date.now());
	const midnight = (Math.floor(clock.wallMs() / 1000 / DAY_SECONDS) + 1) * DAY_SECONDS;

	beforeAll(async () => {
		chain = await startStakingChain({ genesisSeconds: midnight - DAY_SECONDS });
		web3 = await startWeb3Gateway({ clock, chain });
	});
	afterAll(async () => {
		await web3.stop();
		await chain.stop();
	});

	test("a wallet's first key makes an account that is linked to it; later ones are added to that", async () => {
		const wallet = createWallet();
		await chain.setStake(wallet.address, 1n);
		const first = await web3.mint(wallet);
		const account = await web3.owner(first.id);
		expect(account).toMatchObject({ wallet: wallet.address.toLowerCase(), operator: false, stake: { source: "chain" } });
		const second = await web3.mint(wallet, { apiKeyType: "ADMIN" });
		expect((await web3.owner(second.id)).id).toBe(account.id);
		const listed = await web3.gate.call("GET", "/api_keys", undefined, { authorization: `Bearer ${second.apiKey}` });
		expect((await taken<{ data: { id: string }[] }>(listed)).data.map(({ id }) => id).sort()).toEqual(
			[first.id, second.id].sort(),
		);
	});

	test("a smart wallet signs by its owner, also before it is deployed", async () => {
		const key = createWallet();
		const factory = await chain.deploy("WalletFactory", []);
		const made = await chain.deploy("SmartWallet", [key.address]);
		const future = `0x${(await chain.call(factory, "WalletFactory", "addressOf", [key.address])).slice(-40)}`;
		for (const address of [made, future]) await chain.setStake(address, TOKEN);
		expect((await web3.owner((await web3.mint(key, { address: made })).id)).wallet).toBe(made.toLowerCase());
		const token = await web3.token();
		const signature = serializeErc6492Signature({
			address: factory as `0x${string}`,
			data: chain.encode("WalletFactory", "make", [key.address]),
			signature: await key.signMessage({ message: token }),
		});
		const answer = await web3.post(key, { address: future, token, signature });
		expect(answer.status).toBe(200);
	});

	test("the new account spends its stake from the next day on", async () => {
		const wallet = createWallet();
		await chain.setStake(wallet.address, 5n * TOKEN);
		const { id, apiKey } = await web3.mint(wallet);
		const authorization = `Bearer ${apiKey}`;
		const balance = async () =>
			(await web3.gate.call("GET", "/billing/balance", undefined, { authorization })).json() as Promise<{
				balances: { diem: number | null };
				diemEpochAllocation: number;
			}>;
		expect(await web3.spendCent(apiKey)).toBe("402 INSUFFICIENT_BALANCE");
		await chain.mineAt(midnight + 1);
		await chain.mine(2);
		clock.setWall((midnight + 30) * 1000);
		expect(await web3.spendCent(apiKey)).toBe("402 INSUFFICIENT_BALANCE");
		expect(await web3.gate.gateway.staking.reader?.readIfDue()).toBe("read");
		expect(await balance()).toMatchObject({ balances: { diem: 5 }, diemEpochAllocation: 5 });
		expect(await web3.spendCent(apiKey)).toBe("200");
		expect(await balance()).toMatchObject({ balances: { diem: 4.99 }, diemEpochAllocation: 5 });
		const { id: accountId } = await web3.owner(id);
		const charge = await web3.gate.admin.db
			.selectFrom("movements")
			.select(["unit", "amount"])
			.where("kind", "=", "charge")
			.where("debit", "=", accountId)
			.execute();
		expect(charge).toEqual([{ unit: "diem", amount: 10_000_000n }]);
		expect((await web3.gate.audit()).findings).toEqual([]);
	});
});
