import { expect, test } from "bun:test";
import { join } from "node:path";
import { requestId, SAMPLE_DAY, samplePost } from "../../src/journal/testing/sample-records.ts";
import { nano } from "../../src/ledger/index.ts";
import { openStore } from "../../src/store/index.ts";
import { StoreFolder } from "../../src/store/testing/store-folder.ts";

const CLI = join(import.meta.dir, "..", "..", "src", "main.ts");

async function audit(dir: string, ...flags: string[]): Promise<string> {
	const child = Bun.spawn([process.execPath, CLI, "audit", "--data", dir, ...flags], { stdout: "pipe", stderr: "inherit" });
	const text = await new Response(child.stdout).text();
	expect(await child.exited).toBe(0);
	return text;
}

test("the audit tells what the journal holds and the store does not have yet", async () => {
	const books = new StoreFolder();
	const accountId = await books.account();
	const { store, journal } = await openStore({ dataDir: books.dir, applyEveryMs: 60_000, journal: { minFreeDiskBytes: 0 } });
	try {
		await store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(1) });
		await Promise.all([1, 2, 3].map((number) => journal.append(samplePost(requestId(number), accountId))));
		const text = await audit(books.dir);
		expect(text).toContain("3 records of this folder's journal are not in the store yet");
		expect(text).toContain("The books balance");
		const report = JSON.parse(await audit(books.dir, "--json"));
		expect([report.ok, report.backlog]).toEqual([true, { appliedSeq: 0, groups: 1, records: 3 }]);
		await store.settled();
		expect(await audit(books.dir)).not.toContain("not in the store");
	} finally {
		await store.close();
		await books.remove();
	}
});
