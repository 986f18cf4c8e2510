import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { sign } from "hono/jwt";
import type { Refusal } from "../../../../test/support/keys-gateway.ts";
import { type StakingChain, startStakingChain, TOKEN } from "../../../../test/support/staking-chain/index.ts";
import { createWallet, startWeb3Gateway, type Web3Gateway } from "../../../../test/support/web3-gateway.ts";
import { ManualClock } from "../../../telemetry/clock.ts";

const clock = new ManualClock(Date.now());
let web3: Web3Gateway;
let staker: Awaited<ReturnType<Web3Gateway["staker"]>>;

beforeAll(async () => {
	web3 = await startWeb3Gateway({ clock });
	staker = await web3.staker();
});
afterAll(() => web3.stop());

/** Status and text of a refusal. */
async function refusal(answer: Response | Promise<Response>): Promise<{ status: number; error: string; path: string }> {
	const response = await answer;
	const { error, issues } = (await response.json()) as Refusal;
	return { status: response.status, error, path: issues?.[0]?.path.join(".") ?? "" };
}

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A token with other claims, under the service's own secret or another one. */
async function tokenWith(claims: object, secret?: string, algorithm: "HS256" | "HS512" = "HS256"): Promise<string> {
	const iat = Math.floor(clock.wallMs() / 1000);
	const right = { iss: "turnpike", aud: "generate_web3_key", iat, exp: iat + 900, jti: crypto.randomUUID() };
	const key = secret ?? (await web3.gate.openedStore.store.admin("sharedSecret", { name: "web3-key-token" }));
	return sign({ ...right, ...claims }, key, algorithm);
}

test("a token that is none", async () => {
	const good = await web3.token();
	const [header, , signature] = good.split(".");
	const bad = [
		"",
		"x",
		"a.b",
		`${good}.x`,
		`${header}.${encoded("text")}.${signature}`,
		`${header}.${encoded([1])}.${signature}`,
		`${header}.%%%.${signature}`,
		`${encoded({ alg: "none", typ: "JWT" })}.${good.split(".")[1]}.`,
		`${encoded({ typ: "JWT" })}.${good.split(".")[1]}.${signature}`,
		`${good.slice(0, -3)}!!!`,
	];
	for (const token of bad) {
		const { status, error, path } = await refusal(web3.post(staker.wallet, { token }));
		expect([token, status, path]).toEqual([token, 400, "token"]);
		expect(error).toContain("JWT is malformed");
	}
});

test("a token whose signature is not the service's", async () => {
	const [header = "", claims = "", signature = ""] = (await web3.token()).split(".");
	const read = JSON.parse(Buffer.from(claims, "base64url").toString("utf8"));
	const bad = [
		`${header}.${encoded({ ...read, exp: read.exp + 1 })}.${signature}`,
		`${header}.${claims}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`,
		await tokenWith({}, "another secret"),
		await tokenWith({}, undefined, "HS512"),
	];
	for (const token of bad) {
		expect((await refusal(web3.post(staker.wallet, { token }))).error).toContain("JWT signature is invalid");
	}
	// The signature is told before claims and expiry.
	const late = await tokenWith({ exp: 1, iss: "x" }, "another secret");
	expect((await refusal(web3.post(staker.wallet, { token: late }))).error).toContain("JWT signature is invalid");
});

test("a token with other claims", async () => {
	const now = Math.floor(clock.wallMs() / 1000);
	const bad = [
		{ iss: "x" },
		{ aud: "x" },
		{ aud: undefined },
		{ jti: undefined },
		{ jti: "1" },
		{ iat: "now" },
		{ exp: now + 901 },
		{ exp: undefined },
		{ iat: now + 40, exp: now + 940 },
		{ iss: "x", iat: 1, exp: 901 },
	];
	for (const claims of bad) {
		const { error } = await refusal(web3.post(staker.wallet, { token: await tokenWith(claims) }));
		expect([claims, error]).toEqual([claims, expect.stringContaining("JWT claims are invalid")]);
	}
	expect((await web3.post(staker.wallet, { token: await tokenWith({}) })).status).toBe(200);
});

test("a token after fifteen minutes, to the second", async () => {
	clock.setWall(Math.ceil(clock.wallMs() / 1000) * 1000);
	const tokens = [await web3.token(), await web3.token()];
	clock.advance(899_999);
	expect((await web3.post(staker.wallet, { token: tokens[0] })).status).toBe(200);
	clock.advance(1);
	expect((await refusal(web3.post(staker.wallet, { token: tokens[1] }))).error).toContain("JWT has expired");
});

test("a token that has served; of many who use one at once one gets a key", async () => {
	const token = await web3.token();
	const count = async () => (await web3.gate.admin.db.selectFrom("keys").select("id").execute()).length;
	const before = await count();
	const answers = await Promise.all(Array.from({ length: 30 }, () => web3.post(staker.wallet, { token })));
	expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
	const refused = await Promise.all(answers.filter(({ status }) => status !== 200).map(refusal));
	expect(new Set(refused.map(({ status, path }) => `${status} ${path}`))).toEqual(new Set(["400 token"]));
	expect(refused.every(({ error }) => error.includes("JWT claims are invalid: it has served"))).toBe(true);
	expect(await count()).toBe(before + 1);
	const other = await web3.staker();
	expect((await refusal(web3.post(other.wallet, { token }))).error).toContain("it has served");
});

test("a token is told before the address, the address before the signature, the signature before the stake", async () => {
	const all = { token: "x", address: "y", signature: "z" };
	expect((await refusal(web3.post(createWallet(), all))).error).toContain("JWT is malformed");
	const { token: _, ...rest } = all;
	expect((await refusal(web3.post(createWallet(), rest))).error).toContain("Invalid wallet address");
	expect((await refusal(web3.post(createWallet(), { signature: "z" }))).error).toContain("Wallet signature does not match");
});

test("an address that is none, or has a wrong checksum", async () => {
	const { address } = staker.wallet;
	const swapped = [...address].map((char) => (/[a-f]/.test(char) ? char.toUpperCase() : char.toLowerCase())).join("");
	for (const bad of ["", "0x", address.slice(2), `${address}0`, `${address} `, "vitalik.eth", swapped]) {
		const { status, error, path } = await refusal(web3.post(staker.wallet, { address: bad }));
		expect([bad, status, path]).toEqual([bad, 400, "address"]);
		expect(error).toContain("Invalid wallet address");
	}
});

test("a signature that the wallet did not make over the token", async () => {
	const token = await web3.token();
	const made = await staker.wallet.signMessage({ message: token });
	const bad = [
		"",
		"0x",
		"nonsense",
		made.slice(2),
		made.slice(0, -2),
		`${made}00`,
		`${made.slice(0, -2)}ff`,
		`0x${"00".repeat(65)}`,
		`0x${"ff".repeat(65)}`,
		await createWallet().signMessage({ message: token }),
		await staker.wallet.signMessage({ message: `${token} ` }),
		await staker.wallet.signMessage({ message: await web3.token() }),
	];
	for (const signature of bad) {
		const { status, error, path } = await refusal(web3.post(staker.wallet, { token, signature }));
		expect([signature, status, path]).toEqual([signature, 400, "signature"]);
		expect(error).toContain("Wallet signature does not match");
	}
	expect((await web3.post(staker.wallet, { token, signature: made })).status).toBe(200);
});

test("a wallet with nothing staked", async () => {
	const linked = await web3.staker("0");
	for (const wallet of [createWallet(), linked.wallet]) {
		const { status, error } = await refusal(web3.post(wallet));
		expect([status, error]).toEqual([400, "address: Wallet has no staked diem on Base"]);
	}
	const accounts = await web3.gate.admin.db.selectFrom("accounts").select("id").where("name", "like", "0x%").execute();
	expect(accounts).toEqual([]);
});

test("a body with what it may not have, or without what it needs", async () => {
	const tell = async (body: object) => (await refusal(web3.post(staker.wallet, body))).error;
	expect(await tell({ apiKeyType: "OWNER" })).toStartWith("apiKeyType: ");
	expect(await tell({ extra: 1 })).toStartWith("extra: ");
	expect(await tell({ consumptionLimits: {} })).toContain("consumptionLimit");
	expect(await tell({ consumptionLimit: { usd: -1 } })).toStartWith("consumptionLimit.usd: ");
	expect(await tell({ expiresAt: "2001-01-01" })).toStartWith("expiresAt: ");
	expect(await tell({ description: "x".repeat(257) })).toStartWith("description: ");
	expect(await tell({ restrictions: { endpoints: ["nowhere"] } })).toStartWith("restrictions");
	expect(await tell({ token: 1 })).toStartWith("token: ");
	expect(await tell({ token: "x".repeat(2_049) })).toStartWith("token: ");
	for (const missing of ["apiKeyType", "address", "signature"]) expect(await tell({ [missing]: undefined })).toStartWith(missing);
});

test("a key too many for its account", async () => {
	const { wallet, accountId } = await web3.staker();
	const db = web3.gate.admin.db;
	const row = await db.selectFrom("keys").selectAll().where("account_id", "=", accountId).executeTakeFirstOrThrow();
	const more = Array.from({ length: 498 }, (_, index) => ({
		...row,
		id: crypto.randomUUID(),
		hash: `seed-${accountId}-${index}`,
	}));
	for (let from = 0; from < more.length; from += 200)
		await db
			.insertInto("keys")
			.values(more.slice(from, from + 200))
			.execute();
	expect((await web3.post(wallet)).status).toBe(200);
	const token = await web3.token();
	const refused = await refusal(web3.post(wallet, { token }));
	expect([refused.status, refused.error]).toEqual([400, "An account has at most 500 active keys; delete one first"]);
	// What was refused did not use the token.
	const [key] = await db.selectFrom("keys").select("id").where("account_id", "=", accountId).limit(1).execute();
	await db
		.updateTable("keys")
		.set({ revoked_at: 1 })
		.where("id", "=", key?.id ?? "")
		.execute();
	expect((await web3.post(wallet, { token })).status).toBe(200);
});

describe("where a chain says stakes", () => {
	let chain: StakingChain;
	let onChain: Web3Gateway;

	beforeAll(async () => {
		chain = await startStakingChain();
		onChain = await startWeb3Gateway({ chain });
	});
	afterEach(() => {
		chain.answer = null;
	});
	afterAll(async () => {
		await onChain.stop();
		await chain.stop();
	});

	test("a wallet with nothing staked now", async () => {
		const wallet = createWallet();
		await chain.setStake(wallet.address, TOKEN);
		await chain.setStake(wallet.address, 0n);
		expect((await refusal(onChain.post(wallet))).error).toContain("Wallet has no staked diem on Base");
	});

	test("a smart wallet whose owner did not sign", async () => {
		const owner = createWallet();
		const address = await chain.deploy("SmartWallet", [owner.address]);
		await chain.setStake(address, TOKEN);
		for (const signature of [await createWallet().signMessage({ message: "x" }), "0x1234", `0x${"11".repeat(1_000)}`]) {
			const { status, error } = await refusal(onChain.post(owner, { address, signature }));
			expect([status, error]).toEqual([400, expect.stringContaining("Wallet signature does not match")]);
		}
		// A contract that is no wallet.
		const stranger = await refusal(onChain.post(owner, { address: chain.contract }));
		expect(stranger.error).toContain("Wallet signature does not match");
	});

	test("a signature that only the chain could verify, while it is away", async () => {
		const owner = createWallet();
		const address = await chain.deploy("SmartWallet", [owner.address]);
		await chain.setStake(address, TOKEN);
		const token = await onChain.token();
		chain.answer = "down";
		const { status, error } = await refusal(onChain.post(owner, { address, token }));
		expect([status, error]).toEqual([400, expect.stringContaining("Could not verify wallet signature")]);
		expect(error).not.toContain("127.0.0.1");
		chain.answer = null;
		expect((await onChain.post(owner, { address, token })).status).toBe(200);
	});
});
