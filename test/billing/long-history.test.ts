import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { audit } from "../../src/ledger/index.ts";
import { openAdmin } from "../../src/store/admin.ts";
import { writeLongStatement } from "../../src/store/testing/long-statement.ts";
import { type LongHistory, serveLongHistory, timeHistory } from "../support/long-history.ts";
import { temporaryFolder } from "../support/served.ts";

/** `bench/long-history.ts` does the same with five million. */
const ENTRIES = 1_000_000;
let history: LongHistory;

beforeAll(async () => {
	history = await serveLongHistory(ENTRIES);
});
afterAll(() => history.server.remove());

test("every page of a million entries takes as long as the first, with any filter", async () => {
	for (const pages of await timeHistory(history)) {
		expect(pages.map(({ entries }) => entries)).toEqual([200, 200, 200]);
		const [first, ...deeper] = pages;
		// A reading that passes over what lies before the page takes seconds here.
		for (const page of deeper) expect(page.fastestMs - (first?.fastestMs ?? 0), page.name).toBeLessThan(50);
	}
});

test("the statement that is measured is as the books would have it", async () => {
	const folder = temporaryFolder();
	await writeLongStatement(folder, 3_000);
	const admin = openAdmin(folder);
	expect((await audit(admin.db)).findings).toEqual([]);
	await admin.close();
	rmSync(folder, { recursive: true, force: true });
});
