import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemTimers } from "../../telemetry/clock.ts";
import { type AdminStore, createAccount, openAdmin } from "../admin.ts";
import { StoreReader } from "./store-reader.ts";

let place: string;
let admin: AdminStore;

beforeAll(async () => {
	place = mkdtempSync(join(tmpdir(), "turnpike-reader-"));
	admin = openAdmin(place);
	await createAccount(admin, { name: "first" });
});
afterAll(async () => {
	await admin.close();
	rmSync(place, { recursive: true, force: true });
});

const FIRST_PAGE = { order: "newest-first", after: null, limit: 10 } as const;

test("a read sees what was written a moment ago, beside whoever writes", async () => {
	const reader = new StoreReader({ place, timers: systemTimers });
	expect((await reader.read("accounts", FIRST_PAGE)).map(({ name }) => name)).toEqual(["first"]);
	await createAccount(admin, { name: "second" });
	expect((await reader.read("accounts", FIRST_PAGE)).length).toBe(2);
	reader.close();
});

test("its thread ends without use, and the next read starts another", async () => {
	const ends: (() => void)[] = [];
	const timers = {
		after: (_ms: number, action: () => void) => {
			ends.push(action);
			return () => {};
		},
	};
	const reader = new StoreReader({ place, timers });
	await reader.read("refusals", { before: null, limit: 1 });
	for (const end of ends.splice(0)) end();
	expect(await reader.read("refusals", { before: null, limit: 1 })).toEqual([]);
	expect(ends.length).toBe(1);
	reader.close();
});

test("a read that cannot be done says so, and the next one is done", async () => {
	const reader = new StoreReader({ place, timers: systemTimers });
	const wrong = reader.read("accounts", { ...FIRST_PAGE, limit: "many" as unknown as number });
	expect(await wrong.catch((error: Error) => error.name)).toBe("StoreUnavailableError");
	expect((await reader.read("wallets", { after: null, limit: 1 })).length).toBe(0);
	reader.close();
});

test("too many reads at once are refused, and so is one after the end", async () => {
	const reader = new StoreReader({ place, timers: systemTimers });
	const all = await Promise.allSettled(Array.from({ length: 130 }, () => reader.read("accounts", FIRST_PAGE)));
	expect(all.filter(({ status }) => status === "rejected").length).toBe(30);
	const cut = reader.read("accounts", FIRST_PAGE).catch((error: Error) => error.message);
	reader.close();
	expect(await cut).toBe("the store is closed");
	expect(await reader.read("accounts", FIRST_PAGE).catch((error: Error) => error.name)).toBe("StoreUnavailableError");
});
