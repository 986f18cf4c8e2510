import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openAdmin, showAccount } from "../../src/store/admin.ts";
import { ADMIN_KEY, type Served, serve, temporaryFolder, turnpike } from "../support/served.ts";
import { type StakingChain, startStakingChain, TOKEN } from "../support/staking-chain/index.ts";
import { until } from "../support/until.ts";

const DAY_SECONDS = 86_400;
const today = Math.floor(Date.now() / 1000 / DAY_SECONDS) * DAY_SECONDS;
const WALLET = `0x${"a1".repeat(20)}`;
/** A part of the node's address that is a secret. */
const SECRET = "rpc-secret-0123456789";

let chain: StakingChain;
const folders: string[] = [];
const started: Served[] = [];

beforeAll(async () => {
	chain = await startStakingChain({ genesisSeconds: today - 3_600 });
	await chain.setStake(WALLET, 5n * TOKEN);
	await chain.mineAt(today + 2);
	await chain.mine(2);
});
afterAll(async () => {
	for (const server of started) server.remove();
	for (const folder of folders) rmSync(folder, { recursive: true, force: true });
	await chain.stop();
});

const config = (staking: object = {}) => ({
	upstreams: { down: { url: "http://127.0.0.1:9/v1" } },
	chat: { embedded: { enabled: false } },
	staking: {
		chain: { rpcUrl: `${chain.url}/${SECRET}`, timeoutMs: 2_000 },
		contract: chain.contract,
		confirmations: 2,
		...staking,
	},
});

async function run(command: string, staking: object): Promise<{ code: number; said: string }> {
	const folder = temporaryFolder();
	folders.push(folder);
	const file = join(folder, "turnpike.yaml");
	writeFileSync(file, JSON.stringify(config(staking)));
	const { code, stdout, stderr } = await turnpike([
		command,
		"--config",
		file,
		"--data",
		folder,
		...(command === "serve" ? ["--port", "0"] : []),
	]);
	return { code, said: `${stdout}${stderr}` };
}

test("a chain that answers another id ends the start with 78, and doctor says so", async () => {
	const wrong = { chain: { rpcUrl: `${chain.url}/${SECRET}`, id: 1 } };
	const start = await run("serve", wrong);
	expect(start).toEqual({
		code: 78,
		said: expect.stringContaining("staking.chain: the chain's node answers for chain 8453, not for chain 1"),
	});
	const doctor = await run("doctor", wrong);
	expect(doctor.code).toBe(1);
	expect(doctor.said).toContain("FAULT  staking: staking.chain: the chain's node answers for chain 8453, not for chain 1");
	expect(`${start.said}${doctor.said}`).not.toContain(SECRET);
});

test("a contract address with a wrong checksum ends the start with 78", async () => {
	const { code, said } = await run("serve", { contract: "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" });
	expect([code, said]).toEqual([78, expect.stringContaining("staking.contract: the checksum of the address (ERC-55) is wrong")]);
});

test("doctor says where stakes are read, and what is missing", async () => {
	expect((await run("doctor", {})).said).toContain(`ok     staking: ${chain.contract} on Base, block `);
	expect((await run("doctor", { contract: WALLET })).said).toContain(
		`FAULT  staking: staking.contract: there is no contract ${WALLET} on Base`,
	);
});

test("a server starts while the chain is away, says so without the node's secret, and reads when it is back", async () => {
	const dataDir = temporaryFolder();
	folders.push(dataDir);
	const begin = async () => {
		const server = await serve({ dataDir, config: config() });
		started.push(server);
		return server;
	};
	chain.answer = "down";
	const first = await begin();
	expect(first.stderr()).toContain("the chain of stakes cannot be read now");
	expect(first.stderr()).not.toContain(SECRET);
	const admin = openAdmin(dataDir);
	const account = await admin.db.selectFrom("accounts").select("id").executeTakeFirstOrThrow();
	const file = ["--config", first.configFile, "--data", dataDir];
	const linked = await turnpike(["accounts", "set", account.id, "--wallet", WALLET, "--stake-diem", "chain", "--json", ...file]);
	expect(JSON.parse(linked.stdout)).toMatchObject({
		wallet: WALLET,
		stakeSource: "chain",
		stakeDiemToday: "0.0000",
		stakeDiemNext: null,
	});
	first.kill("SIGKILL");
	await first.exited;
	// As if it had been linked yesterday, and today had not been read.
	await admin.db.updateTable("accounts").set({ chain_from_day: 0 }).execute();
	await admin.db.deleteFrom("stake_readings").execute();
	chain.answer = null;
	const read = async () => (await showAccount(admin, account.id)).stake.today / 1e9;
	const second = await begin();
	await until(async () => (await read()) === 5, "the reading");
	const balance = async (server: Served) =>
		(await fetch(`${server.url}/api/v1/billing/balance`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } })).json();
	expect(await balance(second)).toMatchObject({ balances: { diem: 5 }, diemEpochAllocation: 5, consumptionCurrency: "DIEM" });
	second.kill("SIGKILL");
	await second.exited;
	await chain.setStake(WALLET, 50n * TOKEN);
	const third = await begin();
	expect(await balance(third)).toMatchObject({ balances: { diem: 5 }, diemEpochAllocation: 5 });
	expect(`${second.stderr()}${third.stderr()}`).not.toContain(SECRET);
	third.kill("SIGTERM");
	expect(await third.exited).toBe(0);
	await admin.close();
});

test("wallets that are none are refused by the command line", async () => {
	const server = await serve({ config: config() });
	started.push(server);
	const admin = openAdmin(server.dataDir);
	const { id } = await admin.db.selectFrom("accounts").select("id").executeTakeFirstOrThrow();
	await admin.close();
	const set = (wallet: string) =>
		turnpike(["accounts", "set", id, "--wallet", wallet, "--json", "--config", server.configFile, "--data", server.dataDir]);
	for (const wallet of ["0x12", "none at all", "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"]) {
		const { code, stderr } = await set(wallet);
		expect([code, stderr]).toEqual([1, expect.stringContaining("a wallet is 0x and 40 hex digits")]);
	}
	expect(JSON.parse((await set("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed")).stdout).wallet).toBe(
		"0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
	);
	expect(JSON.parse((await set("none")).stdout).wallet).toBeNull();
});
