import { afterEach, expect, test } from "bun:test";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../test/support/until.ts";
import { requestId, SAMPLE_DAY, SAMPLE_PRICE, samplePost } from "../journal/testing/sample-records.ts";
import { audit, NANO_PER_USD, nano } from "../ledger/index.ts";
import { createAccount, openAdmin } from "./admin.ts";
import { openStore } from "./index.ts";

const MEBIBYTE = 1 << 20;

/** Mounts a small file system; null where this machine does not allow it. */
function mountSmallDisk(): string | null {
	if (process.platform !== "linux" || process.getuid?.() !== 0) return null;
	const dir = mkdtempSync(join(tmpdir(), "turnpike-small-disk-"));
	const { exitCode } = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", dir], { stderr: "ignore" });
	if (exitCode === 0) return dir;
	rmSync(dir, { recursive: true });
	return null;
}

function unmount(dir: string): void {
	Bun.spawnSync(["umount", "-l", dir]);
	rmSync(dir, { recursive: true, force: true });
}

const trial = mountSmallDisk();
if (trial !== null) unmount(trial);
let disk: string | null = null;

afterEach(() => {
	if (disk !== null) unmount(disk);
});

/** Writes zeros until nothing more fits. */
function fill(path: string): void {
	const fd = openSync(path, "w");
	try {
		for (let bytes = MEBIBYTE; bytes >= 512; ) {
			try {
				writeSync(fd, Buffer.alloc(bytes));
			} catch {
				bytes >>= 1;
			}
		}
	} finally {
		closeSync(fd);
	}
}

test.skipIf(trial === null)(
	"a full disk turns new requests away, running ones still post, and nothing is lost when there is space again",
	async () => {
		disk = mountSmallDisk() ?? "";
		const dataDir = join(disk, "data");
		const admin = openAdmin(dataDir);
		const { id: accountId } = await createAccount(admin, { name: "a", startingCreditUsd: "100" });
		const { store, journal } = await openStore({
			dataDir,
			journal: { segmentBytes: 2 * MEBIBYTE, minFreeDiskBytes: 4 * MEBIBYTE, diskCheckMs: 20 },
			applyEveryMs: 10,
			callPatienceMs: 200,
		});
		await store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(1) });
		expect(journal.workRefusal()).toBeNull();
		const filler = join(disk, "filler");
		fill(filler);
		await until(() => journal.workRefusal()?.reason === "disk");

		// More than the current segment holds: the spare is used, too.
		const count = 4_000;
		for (let number = 0; number < count; number += 50) {
			await Promise.all(
				Array.from({ length: 50 }, (_, index) => journal.append(samplePost(requestId(number + index), accountId))),
			);
		}
		const settled = await store.settled().then(
			() => "settled",
			(error: Error) => error.name,
		);
		expect(settled).toBe("StoreUnavailableError");
		expect(journal.backlogBytes).toBeGreaterThan(0);
		expect(journal.workRefusal()).not.toBeNull();

		rmSync(filler);
		await until(() => journal.workRefusal() === null);
		await store.settled();
		const [usd] = await store.budgets(accountId, SAMPLE_DAY);
		expect(usd?.balance).toBe(nano(100 * NANO_PER_USD - count * SAMPLE_PRICE));
		const report = await audit(admin.db);
		expect(report.findings).toEqual([]);
		expect(report.counted.posts).toBe(count);
		await store.close();
		await admin.close();
	},
);
