import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { MULTICALL, type StakingChain, startStakingChain, TOKEN } from "../../../test/support/staking-chain/index.ts";
import { NANO_PER_USD } from "../../ledger/nano.ts";
import { runOperation } from "../../store/admin/operations.ts";
import { type AdminStore, createAccount, setAccount, showAccount } from "../../store/admin.ts";
import type { StorePort } from "../../store/port.ts";
import { StoreFolder } from "../../store/testing/store-folder.ts";
import { ManualClock, systemTimers } from "../../telemetry/clock.ts";
import { silentLog } from "../../telemetry/log.ts";
import { Chain } from "../evm/index.ts";
import { StakeReader } from "./stake-reader.ts";
import { StakingContract } from "./staking-contract.ts";

const DAY_MS = 86_400_000;
/** 2026-03-02. */
const DAY = 20_514;
const MIDNIGHT = DAY * 86_400;
const CONFIRMATIONS = 3;
const wallet = (index: number) => `0x${(0xa0_0000 + index).toString(16).padStart(40, "0")}`;

let chain: StakingChain;
let books: StoreFolder;
let admin: AdminStore;
let clock: ManualClock;

async function begin(multicall: boolean): Promise<void> {
	chain = await startStakingChain({ genesisSeconds: MIDNIGHT - 7_200, multicall });
	books = new StoreFolder();
	clock = new ManualClock((MIDNIGHT - 3_600) * 1000);
	admin = books.admin(() => clock.wallMs());
}

afterEach(async () => {
	await chain.stop();
	await books.remove();
});

async function staker(index: number, units = 0n): Promise<string> {
	const { id } = await createAccount(admin, { name: `staker ${index}` });
	await setAccount(admin, id, { wallet: wallet(index) });
	if (units > 0n) await chain.setStake(wallet(index), units);
	return id;
}

interface ReaderOptions {
	readonly node?: string;
	readonly view?: string;
	readonly id?: number;
	readonly contract?: string;
}

function reader({
	node = "n1",
	view = "balanceOf(address)",
	id = 8453,
	contract = chain.contract,
}: ReaderOptions = {}): StakeReader {
	const store = {
		node: { id: node, epoch: 1 },
		admin: (name, input) => runOperation(admin, name, input),
	} as Pick<StorePort, "admin" | "node">;
	const at = new Chain({ id, rpcUrl: chain.url, timeoutMs: 20_000 });
	return new StakeReader({
		store,
		contract: new StakingContract(at, { contract, view, multicall: MULTICALL }),
		origin: `${id} ${contract} ${view}`,
		rate: { decimals: 18, diemPerToken: "1" },
		confirmations: CONFIRMATIONS,
		clock,
		timers: systemTimers,
		log: silentLog,
	});
}

/** The day begins: its first block, and enough on top of it. */
async function midnight(): Promise<void> {
	await chain.mineAt(MIDNIGHT + 4);
	await chain.mine(CONFIRMATIONS);
	clock.setWall((MIDNIGHT + 60) * 1000);
}

const stakeToday = async (accountId: string) => Number((await showAccount(admin, accountId)).stake.today) / NANO_PER_USD;
const day = async () => (await admin.db.selectFrom("stake_readings").selectAll().execute()).at(-1);

for (const multicall of [true, false]) {
	describe(multicall ? "with Multicall3" : "without Multicall3", () => {
		beforeEach(() => begin(multicall));

		test("every linked wallet is read at the day's first block, once for all looks", async () => {
			const rich = await staker(1, 5n * TOKEN + 1n);
			const poor = await staker(2, TOKEN / 20n);
			const none = await staker(3);
			const unlinked = (await createAccount(admin, { name: "unlinked" })).id;
			const before = await chain.newest();
			await midnight();
			const reading = reader();
			expect(await reading.readIfDue()).toBe("read");
			expect(await Promise.all([rich, poor, none, unlinked].map(stakeToday))).toEqual([5, 0.05, 0, 0]);
			expect((await showAccount(admin, rich)).balances.diem).toBe((5 * NANO_PER_USD) as never);
			expect((await showAccount(admin, poor)).balances.diem).toBe(0 as never);
			expect(await day()).toMatchObject({ day: BigInt(DAY), block: BigInt(before + 1), reader: "n1" });
			chain.calls.clear();
			expect([await reading.readIfDue(), await reader({ node: "n2" }).readIfDue()]).toEqual(["read", "read"]);
			expect(chain.calls.size).toBe(0);
			expect((await books.audit()).findings).toEqual([]);
		});

		test("a stake that is moved, or staked, after the first block does not count before the next day", async () => {
			const from = await staker(1, 5n * TOKEN);
			const to = await staker(2);
			const late = await staker(3);
			await midnight();
			await chain.move(wallet(1), wallet(2));
			await chain.setStake(wallet(3), 9n * TOKEN);
			await chain.mine(CONFIRMATIONS);
			expect(await reader().readIfDue()).toBe("read");
			expect(await Promise.all([from, to, late].map(stakeToday))).toEqual([5, 0, 0]);
			await chain.mineAt(MIDNIGHT + 86_400);
			await chain.mine(CONFIRMATIONS);
			clock.advance(DAY_MS);
			expect(await reader().readIfDue()).toBe("read");
			expect(await Promise.all([from, to, late].map(stakeToday))).toEqual([0, 5, 9]);
		});

		test("one stake that is moved between two wallets while the reading is broken off is paid once", async () => {
			const first = await staker(1, 5n * TOKEN);
			const second = await staker(2);
			await midnight();
			// The chain goes away when the block has been chosen.
			chain.answer = (method) => (method === "eth_call" ? new Response("down", { status: 404 }) : null);
			expect(await reader().readIfDue()).toBe("failed");
			const chosen = (await day())?.block;
			chain.answer = null;
			await chain.move(wallet(1), wallet(2));
			await chain.mine(200);
			clock.advance(5 * 3_600_000);
			// Another node takes over, at the block of the first.
			expect(await reader({ node: "n2" }).readIfDue()).toBe("read");
			expect(await day()).toMatchObject({ block: chosen ?? -1n, reader: "n2" });
			expect([await stakeToday(first), await stakeToday(second)]).toEqual([5, 0]);
		});

		test("balances of any size are clamped to what an account may have", async () => {
			const most = await staker(1, 2n ** 256n - 1n);
			const big = await staker(2, 2n ** 64n * TOKEN);
			const fits = await staker(3, 999_999n * TOKEN + TOKEN / 2n);
			await midnight();
			expect(await reader().readIfDue()).toBe("read");
			expect(await Promise.all([most, big, fits].map(stakeToday))).toEqual([1_000_000, 1_000_000, 999_999.5]);
		});

		test("a view that reverts for who has nothing is read; one that reverts for all is a fault", async () => {
			const rich = await staker(1, 5n * TOKEN);
			const none = await staker(2);
			await midnight();
			expect(await reader({ view: "setStake(address)" }).readIfDue()).toBe("failed");
			expect(await runOperation(admin, "listUnreadStakers", { day: DAY, after: "", limit: 9 })).toHaveLength(2);
			await admin.db.deleteFrom("stake_readings").execute();
			expect(await reader({ view: "stakeOf(address)" }).readIfDue()).toBe("read");
			expect([await stakeToday(rich), await stakeToday(none)]).toEqual([5, 0]);
		});

		test("more wallets than one page are all read", async () => {
			const ids: string[] = [];
			for (let index = 0; index < 205; index++) ids.push(await staker(index));
			await chain.setStake(wallet(0), TOKEN);
			await chain.setStake(wallet(204), 2n * TOKEN);
			await midnight();
			expect(await reader().readIfDue()).toBe("read");
			expect([await stakeToday(ids[0] ?? ""), await stakeToday(ids[204] ?? ""), await stakeToday(ids[100] ?? "")]).toEqual([
				1, 2, 0,
			]);
			expect(await runOperation(admin, "listUnreadStakers", { day: DAY, after: "", limit: 9 })).toEqual([]);
		});
	});
}

describe("in time", () => {
	beforeEach(() => begin(true));

	test("a block counts when enough others stand on it", async () => {
		const id = await staker(1, 5n * TOKEN);
		clock.setWall((MIDNIGHT + 1) * 1000);
		const reading = reader();
		expect(await reading.readIfDue()).toBe("later");
		await chain.mineAt(MIDNIGHT);
		await chain.mine(CONFIRMATIONS - 1);
		expect(await reading.readIfDue()).toBe("later");
		expect(await stakeToday(id)).toBe(0);
		await chain.mine(1);
		expect(await reading.readIfDue()).toBe("read");
		expect(await stakeToday(id)).toBe(5);
	});

	test("a chain that is away is asked again, less and less often, and the day is read when it is back", async () => {
		const id = await staker(1, 5n * TOKEN);
		await midnight();
		chain.answer = "down";
		const reading = reader();
		expect(await reading.readIfDue()).toBe("failed");
		expect(await reading.readIfDue()).toBe("later");
		clock.advance(15_000);
		expect(await reading.readIfDue()).toBe("failed");
		clock.advance(15_000);
		expect(await reading.readIfDue()).toBe("later");
		expect(await stakeToday(id)).toBe(0);
		chain.answer = null;
		clock.advance(15_000);
		expect(await reading.readIfDue()).toBe("read");
		expect(await stakeToday(id)).toBe(5);
	});

	test("a day that could not be read pays nothing, not what the day before paid", async () => {
		const id = await staker(1, 5n * TOKEN);
		await midnight();
		expect(await reader().readIfDue()).toBe("read");
		chain.answer = "down";
		clock.advance(DAY_MS);
		expect(await reader().readIfDue()).toBe("failed");
		expect(await stakeToday(id)).toBe(0);
	});

	test("a node that starts in the middle of a day reads the stakes of its first block", async () => {
		const id = await staker(1, 5n * TOKEN);
		await midnight();
		await chain.setStake(wallet(1), 50n * TOKEN);
		await chain.mine(300);
		clock.advance(10 * 3_600_000);
		expect(await reader().readIfDue()).toBe("read");
		expect(await stakeToday(id)).toBe(5);
	});

	test("a node that died in its reading is taken over when its term has ended, and goes on itself at once", async () => {
		await staker(1, 5n * TOKEN);
		await midnight();
		chain.answer = "down";
		expect(await reader({ node: "dead" }).readIfDue()).toBe("failed");
		chain.answer = null;
		expect(await reader({ node: "n2" }).readIfDue()).toBe("later");
		expect((await day())?.finished_at).toBeNull();
		clock.advance(120_001);
		expect(await reader({ node: "n2" }).readIfDue()).toBe("read");
		await admin.db.updateTable("stake_readings").set({ finished_at: null }).execute();
		expect(await reader({ node: "n2" }).readIfDue()).toBe("read");
	});

	test("several nodes that look at once read once", async () => {
		const ids = [await staker(1, 5n * TOKEN), await staker(2, 6n * TOKEN)];
		await midnight();
		const looks = await Promise.all(["n1", "n2", "n3"].map((node) => reader({ node }).readIfDue()));
		expect(looks.filter((look) => look === "read").length).toBeGreaterThanOrEqual(1);
		expect(looks).not.toContain("failed");
		expect(await Promise.all(ids.map(stakeToday))).toEqual([5, 6]);
	});

	test("without a staker the chain is not asked", async () => {
		await midnight();
		expect(await reader().readIfDue()).toBe("read");
		expect(chain.calls.size).toBe(0);
	});

	test("a stake that the operator set is left alone", async () => {
		const id = await staker(1, 5n * TOKEN);
		await setAccount(admin, id, { stakeDiem: "2" });
		await midnight();
		expect(await reader().readIfDue()).toBe("read");
		expect(await stakeToday(id)).toBe(2);
	});

	test("another chain, and a contract that is not there, are faults that pay nothing", async () => {
		const id = await staker(1, 5n * TOKEN);
		await midnight();
		expect(await reader({ id: 1 }).readIfDue()).toBe("failed");
		expect(await reader({ contract: wallet(99) }).readIfDue()).toBe("failed");
		expect(await stakeToday(id)).toBe(0);
		expect((await day())?.block).toBeNull();
	});

	test("a block that the chain replaced ends the day's reading", async () => {
		const id = await staker(1, 5n * TOKEN);
		await midnight();
		chain.answer = (method) => (method === "eth_call" ? new Response("down", { status: 404 }) : null);
		expect(await reader().readIfDue()).toBe("failed");
		chain.answer = null;
		await admin.db
			.updateTable("stake_readings")
			.set({ block_hash: `0x${"00".repeat(32)}` })
			.execute();
		expect(await reader().readIfDue()).toBe("given-up");
		expect(await stakeToday(id)).toBe(0);
	});

	test("a day that was begun at another contract is not gone on with", async () => {
		const id = await staker(1, 5n * TOKEN);
		await midnight();
		chain.answer = (method) => (method === "eth_call" ? new Response("down", { status: 404 }) : null);
		expect(await reader().readIfDue()).toBe("failed");
		chain.answer = null;
		expect(await reader({ view: "stakeOf(address)" }).readIfDue()).toBe("given-up");
		expect(await stakeToday(id)).toBe(0);
	});

	test("wallets that do not fit into one call are asked for alone", async () => {
		const ids: string[] = [];
		for (let index = 2; index < 12; index++) ids.push(await staker(index, BigInt(index) * TOKEN));
		await midnight();
		expect(await reader({ view: "costlyBalanceOf(address)" }).readIfDue()).toBe("read");
		expect(await Promise.all(ids.map(stakeToday))).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
		expect(chain.calls.get("eth_call")).toBeGreaterThan(1);
	});

	test("a wallet that the node refuses does not keep the others waiting, and is asked for again", async () => {
		const ids = [await staker(1, 5n * TOKEN), await staker(2, 6n * TOKEN)];
		await midnight();
		const refused = wallet(1).slice(2);
		chain.answer = (method, params) =>
			method === "eth_call" && JSON.stringify(params).includes(refused)
				? Response.json({ jsonrpc: "2.0", id: 0, error: { code: -32_000, message: "missing trie node" } })
				: null;
		const reading = reader();
		expect(await reading.readIfDue()).toBe("failed");
		expect(await Promise.all(ids.map(stakeToday))).toEqual([0, 6]);
		chain.answer = null;
		clock.advance(15_000);
		expect(await reading.readIfDue()).toBe("read");
		expect(await Promise.all(ids.map(stakeToday))).toEqual([5, 6]);
	});
});
