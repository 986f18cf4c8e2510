/**
 * A process of its own that settles requests as fast as it can: each holds a worst case, posts a price of two lines and
 * waits until it is durable; so many at once. Mode `transactions` does on PostgreSQL what is done without a journal: one
 * transaction a request that takes the price from the balance and writes the same rows.
 *
 *   bun settles-probe.ts process|power|store|transactions FOLDER POSTGRES_URL SECONDS AT_ONCE ACCOUNTS
 */
import { SQL } from "bun";
import { generateSecretKey, keyHash } from "../src/access/index.ts";
import { type Caller, createBudgets } from "../src/budgets/index.ts";
import { nano, picoPerUnit } from "../src/ledger/nano.ts";
import { createAccount, createKey, openAdmin } from "../src/store/admin.ts";
import { openStore } from "../src/store/index.ts";
import { systemClock } from "../src/telemetry/clock.ts";

const [mode = "", folder = "", url = "", secondsText = "4", atOnceText = "256", accountsText = "1000"] = process.argv.slice(2);
const seconds = Number(secondsText);
const atOnce = Number(atOnceText);
const accounts = Number(accountsText);
const WARM_MS = 1_500;
/** Bytes of the journal that the store may lack: half a second's work or less. */
const MOST_BEHIND = 8 << 20;
const HOLD = nano(1_000_000);
const PRICE = picoPerUnit(1.5, 1_000_000);
/** More connections than this make a PostgreSQL of two cores slower. */
const POOL = 16;
/** As of one line of the usual post: 24 and 56 tokens. */
const LINES = [
	{ sku: "bench-model-llm-input-mtoken", units: 24, picoPrice: PRICE },
	{ sku: "bench-model-llm-output-mtoken", units: 56, picoPrice: PRICE },
];
const PARTS = LINES.map(({ units, picoPrice }) => Math.round((units * picoPrice) / 1_000));
const TOTAL = PARTS.reduce((sum, part) => sum + part, 0);

/** Settles one request of the account with this number. */
type Settle = (account: number) => Promise<void>;

interface Settler {
	readonly settle: Settle;
	/** The store is too far behind what was settled. */
	behind(): boolean;
	close(): Promise<void>;
}

async function ledger(durability: "process" | "power" | "store"): Promise<Settler> {
	const postgres = durability === "store" ? url : undefined;
	const { store, journal } = await openStore({ dataDir: folder, postgres, journal: { durability, minFreeDiskBytes: 0 } });
	const admin = openAdmin(postgres ?? folder);
	const budgets = createBudgets({ store, journal, clock: systemClock, failedRequests: () => 0 });
	const callers: Caller[] = [];
	for (let index = 0; index < accounts; index++) {
		const account = await createAccount(admin, { name: `bench ${index}`, startingCreditUsd: "1000" });
		const key = generateSecretKey("INFERENCE");
		await createKey(admin, { accountId: account.id, type: "INFERENCE", hash: keyHash(key), last6: key.slice(-6) });
		const caller = await budgets.caller(keyHash(key));
		if (caller === null) throw new Error("a key of the bench is unknown");
		callers.push(caller);
	}
	const usage = {
		promptTokens: 24,
		completionTokens: 56,
		cachedTokens: 0,
		cacheWriteTokens: 0,
		reasoningTokens: 0,
		counted: false,
	};
	return {
		settle: async (account) => {
			const caller = callers[account];
			if (caller === undefined) throw new Error(`no account ${account}`);
			const requestId = crypto.randomUUID().replaceAll("-", "");
			const hold = await budgets.hold(caller, { requestId, route: "chat", model: "bench", admittedAtMs: Date.now() }, HOLD);
			await hold.post({ lines: LINES, usage, status: 200, upstream: "bench" })?.durable;
		},
		behind: () => journal.backlogBytes > MOST_BEHIND,
		close: async () => {
			budgets.close();
			await admin.close();
			await store.close();
		},
	};
}

/** One statement, so one way there and back and one implicit transaction: the best that can be had of this way. */
const CHARGE = `
	WITH paid AS (
		UPDATE balances SET balance = balance - $2 WHERE account_id = $1 AND balance >= $2 RETURNING balance
	), post AS (
		INSERT INTO posts (request_id, account_id, day, admitted_at, done_at, route, model, upstream, status, price, tokens_in, tokens_out)
		SELECT $3, $1, $4, $5, $5, 'chat', 'bench', 'bench', 200, $2, 24, 56 FROM paid RETURNING id
	)
	INSERT INTO movements (post_id, account_id, amount, sku, units, pico_price, day, occurred_at, balance_after)
	SELECT post.id, $1, line.amount, line.sku, line.units, $8, $4, $5, paid.balance
	FROM paid, post, (VALUES ('${LINES[0]?.sku}', 24, $6::int8), ('${LINES[1]?.sku}', 56, $7::int8)) AS line (sku, units, amount)
	RETURNING 1`;

async function transactions(): Promise<Settler> {
	const sql = new SQL(url, { max: POOL, bigint: true });
	await sql.unsafe(`
		CREATE TABLE balances (account_id TEXT PRIMARY KEY, balance BIGINT NOT NULL CHECK (balance >= 0));
		CREATE TABLE posts (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, request_id TEXT NOT NULL UNIQUE, account_id TEXT NOT NULL,
			day BIGINT NOT NULL, admitted_at BIGINT NOT NULL, done_at BIGINT NOT NULL, route TEXT NOT NULL, model TEXT, upstream TEXT,
			status BIGINT NOT NULL, price BIGINT NOT NULL, tokens_in BIGINT, tokens_out BIGINT);
		CREATE TABLE movements (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, post_id BIGINT NOT NULL, account_id TEXT NOT NULL,
			amount BIGINT NOT NULL CHECK (amount > 0), sku TEXT NOT NULL, units BIGINT NOT NULL, pico_price BIGINT NOT NULL,
			day BIGINT NOT NULL, occurred_at BIGINT NOT NULL, balance_after BIGINT NOT NULL);
		CREATE INDEX movements_by_account ON movements (account_id, id)`);
	await sql.unsafe("INSERT INTO balances SELECT 'account ' || n, 1000000000000 FROM generate_series(0, $1::int8 - 1) AS n", [
		accounts,
	]);
	return {
		settle: async (account) => {
			const now = Date.now();
			const requestId = crypto.randomUUID().replaceAll("-", "");
			const day = Math.floor(now / 86_400_000);
			const rows = await sql.unsafe(CHARGE, [`account ${account}`, TOTAL, requestId, day, now, ...PARTS, PRICE]);
			if (rows.length !== 2) throw new Error("a charge was not written");
		},
		behind: () => false,
		close: () => sql.close(),
	};
}

const { settle, behind, close } =
	mode === "transactions" ? await transactions() : await ledger(mode as "process" | "power" | "store");
let settled = 0;
let asked = 0;
let running = true;
const firstMs = performance.now();
const lanes = Array.from({ length: atOnce }, async () => {
	while (running) {
		// What the store cannot follow is no rate that lasts.
		if (behind()) await Bun.sleep(1);
		else {
			await settle(asked++ % accounts);
			settled++;
		}
	}
});
// Each account's first request asks the store for money: that is told apart.
while (settled < accounts) await Bun.sleep(1);
const firstPerSecond = (1_000 * accounts) / (performance.now() - firstMs);
await Bun.sleep(WARM_MS);
// The parent reads what PostgreSQL used between these two lines.
console.log("begin");
const [beginSettled, beginCpu, beginMs] = [settled, process.cpuUsage(), performance.now()];
await Bun.sleep(seconds * 1_000);
const cpu = process.cpuUsage(beginCpu);
const result = {
	settled: settled - beginSettled,
	seconds: (performance.now() - beginMs) / 1_000,
	cpuMs: (cpu.user + cpu.system) / 1_000,
	firstPerSecond,
};
console.log(JSON.stringify(result));
running = false;
await Promise.all(lanes);
await close();
process.exit(0);
