import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { once, type PostgresCluster, startPostgres } from "../../../test/support/postgres-cluster.ts";
import { until } from "../../../test/support/until.ts";
import { nano } from "../../ledger/nano.ts";
import { createAccount, isEmpty, openAdmin, setAccount } from "../admin.ts";
import { testAdmin } from "../testing/admin-contract.ts";
import { StoreFolder } from "../testing/store-folder.ts";

let cluster: PostgresCluster;

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

testAdmin(async () => new StoreFolder(await cluster.newDatabase()));

test("changes are told to who listens when they are committed, not before", async () => {
	const url = await cluster.newDatabase();
	const admin = openAdmin(url);
	const { id } = await createAccount(admin, { name: "a" });
	await once(url, async (sql) => {
		let heard = 0;
		await sql.listen("turnpike_changes", () => heard++);
		await admin.db.transaction().execute(async (tx) => {
			await tx.insertInto("changes").values({ kind: "reload", changed_at: 1 }).execute();
			await Bun.sleep(50);
			expect(heard).toBe(0);
		});
		await setAccount(admin, id, { tier: "staff" });
		await until(() => heard >= 2);
		expect(heard).toBe(2);
	});
	await admin.close();
});

test("bundled credit that is set while a charge on it is booked is what it shall be", async () => {
	const url = await cluster.newDatabase();
	const admin = openAdmin(url);
	const { id } = await createAccount(admin, { name: "a" });
	await setAccount(admin, id, { bundledUsd: "5" });
	const waits = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'turnpike admin' AND wait_event_type = 'Lock'";
	let setting: ReturnType<typeof setAccount> | undefined;
	await once(url, (sql) =>
		sql.begin(async (tx) => {
			await tx.unsafe("UPDATE budgets SET balance = balance - 7 WHERE source = 'bundled'");
			setting = setAccount(admin, id, { bundledUsd: "0" });
			await until(async () => (await once(url, (other) => other.unsafe(waits))).length > 0, "the writer that waits");
		}),
	);
	expect((await setting)?.balances.bundled).toBe(nano(0));
	await admin.close();
});

test("a store that cannot be reached says so, and is reached once it can", async () => {
	const url = await cluster.newDatabase();
	await cluster.crash();
	const admin = openAdmin(url);
	const fault = await isEmpty(admin).then(
		() => null,
		(error: unknown) => error,
	);
	expect(fault).toBeInstanceOf(Error);
	await cluster.start();
	expect(await isEmpty(admin)).toBe(true);
	await admin.close();
});

test("processes that open an empty database together all get the whole schema, made once", async () => {
	const url = await cluster.newDatabase();
	const code = `import { isEmpty, openAdmin } from ${JSON.stringify(join(import.meta.dir, "../admin.ts"))};
		const admin = openAdmin(process.argv[1]);
		await isEmpty(admin);
		await admin.close();`;
	const children = Array.from({ length: 5 }, () => Bun.spawn([process.execPath, "-e", code, url], { stderr: "inherit" }));
	expect(await Promise.all(children.map((child) => child.exited))).toEqual([0, 0, 0, 0, 0]);
});
