/** `accounts set --bundled-usd` from a process of its own, while a server has the money leased and uses it. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBudgets, type NodeBudgets } from "../../src/budgets/budgets.ts";
import { audit, NANO_PER_USD, nano, pico } from "../../src/ledger/index.ts";
import { type AdminStore, createAccount, createKey, openAdmin, setAccount, showAccount } from "../../src/store/admin.ts";
import { type OpenedStore, openStore } from "../../src/store/index.ts";
import { systemClock } from "../../src/telemetry/clock.ts";

const CLI = join(import.meta.dir, "..", "..", "src", "main.ts");
const HASH = "c".repeat(64);
const PRICE = 1_000_000;

let dir: string;
let admin: AdminStore;
let opened: OpenedStore;
let budgets: NodeBudgets;
let accountId: string;
let serial = 0;

beforeEach(async () => {
	dir = mkdtempSync(join(tmpdir(), "turnpike-take-back-"));
	admin = openAdmin(dir);
	({ id: accountId } = await createAccount(admin, { name: "busy", startingCreditUsd: "50" }));
	await setAccount(admin, accountId, { bundledUsd: "20" });
	await createKey(admin, { accountId, type: "INFERENCE", hash: HASH, last6: "abcdef" });
	opened = await openStore({ dataDir: dir, journal: { minFreeDiskBytes: 0, segmentBytes: 1 << 20 } });
	budgets = createBudgets({ store: opened.store, journal: opened.journal, clock: systemClock, failedRequests: () => 20 });
});

afterEach(async () => {
	budgets.close();
	await opened.store.close();
	await admin.close();
	rmSync(dir, { recursive: true, force: true });
});

async function hold(amount: number) {
	const caller = await budgets.caller(HASH);
	if (caller === null) throw new Error("the key is unknown");
	const context = { requestId: `${++serial}`.padStart(32, "r"), route: "chat", model: "m", admittedAtMs: Date.now() };
	return budgets.hold(caller, context, nano(amount));
}

async function request(): Promise<void> {
	const held = await hold(3 * PRICE);
	await Bun.sleep(1 + (serial % 5));
	const posted = held.post({
		lines: [{ sku: "output", units: PRICE, picoPrice: pico(1_000) }],
		usage: null,
		status: 200,
		upstream: "u",
	});
	await posted?.durable;
}

async function setBundled(usd: string) {
	const child = Bun.spawn([process.execPath, CLI, "accounts", "set", accountId, "--bundled-usd", usd, "--data", dir, "--json"], {
		stdout: "pipe",
		stderr: "pipe",
		env: { ...process.env, NO_COLOR: "1" },
	});
	const [out, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
	return { code: await child.exited, out, errors };
}

test("is taken back from a busy account", async () => {
	let busy = true;
	const callers = Array.from({ length: 16 }, async () => {
		while (busy) await request();
	});
	const { code, out, errors } = await setBundled("0.5");
	busy = false;
	await Promise.all(callers);
	expect({ code, errors }).toEqual({ code: 0, errors: "" });
	expect(JSON.parse(out).bundledUsd).toBe("0.5000");
	await opened.store.settled();
	const { balances } = await showAccount(admin, accountId);
	expect(balances.bundled).toBeLessThanOrEqual(nano(0.5 * NANO_PER_USD));
	expect((await audit(admin.db)).findings).toEqual([]);
	expect(budgets.holdsOpen).toBe(0);
});

test("stays where a request holds it, and the operator is told so", async () => {
	const held = await hold(15 * NANO_PER_USD);
	const { code, errors } = await setBundled("1");
	expect(code).toBe(1);
	expect(errors).toContain("only 5 of that amount is free now");
	expect((await showAccount(admin, accountId)).balances.bundled).toBe(nano(20 * NANO_PER_USD));
	held.void();
	const { code: later } = await setBundled("1");
	expect(later).toBe(0);
	expect((await showAccount(admin, accountId)).balances.bundled).toBe(nano(NANO_PER_USD));
	expect((await audit(admin.db)).findings).toEqual([]);
});
