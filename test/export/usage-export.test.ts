import type { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../src/store/sqlite/open-database.ts";
import { type LongStatement, writeLongStatement } from "../../src/store/testing/long-statement.ts";
import { temporaryFolder, turnpike } from "../support/served.ts";

const ENTRIES = 300_000;
const dataDir = temporaryFolder();
let db: Database;
let long: LongStatement;

beforeAll(async () => {
	long = await writeLongStatement(dataDir, ENTRIES);
	db = openDatabase(dataDir);
	const late = (long.firstDay + 5) * 86_400_000;
	db.run(
		"INSERT INTO keys (id, account_id, hash, type, last6, description, limit_period, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
		["k1", long.accountId, "0".repeat(64), "INFERENCE", "abcdef", '=HYPERLINK("http://x","a,b")\nü', "EPOCH"],
	);
	const post = db.query(
		`INSERT INTO posts (id, request_id, node_id, epoch, seq, account_id, key_id, day, admitted_at, done_at, booked_at, route, status, hold, price)
			VALUES (?, ?, 'n', 1, ?1, ?, 'k1', 0, ?, ?, ?, 'chat', 200, 0, ?)`,
	);
	post.run(1_000_000, "free", long.accountId, late, late + 5, late + 10, 0);
	post.run(1_000_001, "overrun", long.accountId, late, late + 5, late + 10, 7);
	db.run(
		`INSERT INTO movements (kind, debit, credit, amount, unit, post_id, sku, units, pico_price, day, occurred_at, booked_at)
			VALUES ('overrun', 'overrun', 'revenue', 7, 'usd', 1000001, 'm-llm-output-mtoken', 3, 2333, 0, 0, ?)`,
		[late + 10],
	);
});

afterAll(() => {
	db.close();
	rmSync(dataDir, { recursive: true, force: true });
});

const run = (...args: string[]) => turnpike(["usage", "export", "--data", dataDir, ...args]);
const day = (number: number) => new Date((long.firstDay + number) * 86_400_000).toISOString().slice(0, 10);

/** Resident memory of a process now; 0 where the system does not tell it so, or the process has ended. */
function residentMb(pid: number): number {
	const file = `/proc/${pid}/status`;
	const status = existsSync(file) ? readFileSync(file, "utf8") : "";
	return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
}

describe("turnpike usage export", () => {
	test("writes a range of instants as CSV, the first included, the last not", async () => {
		const { stdout, code } = await run("--from", `${day(0)}T10:00:00Z`, "--to", `${day(0)}T10:00:02Z`);
		expect(code).toBe(0);
		const [head, ...lines] = stdout.trimEnd().split("\r\n");
		expect(head).toStartWith("timestamp,requestId,accountId,account,keyId,key,route,model,upstream,status,");
		expect(lines.length).toBe(4);
		expect(lines[0]).toBe(
			`${day(0)}T10:00:00.000Z,long${String(36_000).padStart(28, "0")},${long.accountId},long,,,chat,long,local,200,800,10,10,long-llm-input-mtoken,0.1,0.00001,0.000001,BUNDLED_CREDITS,,`,
		);
		expect(lines[3]).toEndWith("long-llm-output-mtoken,0.3,0.00001,0.000003,USD,,");
	});

	test("a day's export has the day's entries, each once, as the books sum them", async () => {
		const { stdout } = await run("--from", day(1), "--to", day(2), "--format", "ndjson");
		const lines = stdout.trimEnd().split("\n");
		const rows = lines.map((line) => JSON.parse(line) as { requestId: string; sku: string; charged: number });
		const sums = db
			.query("SELECT sum(amount) AS amount, sum(rows) AS rows FROM usage_daily WHERE day = ?")
			.get(long.firstDay + 1);
		expect({
			rows: BigInt(rows.length),
			amount: BigInt(Math.round(rows.reduce((sum, row) => sum + row.charged, 0) * 1e9)),
		}).toEqual(sums as { rows: bigint; amount: bigint });
		expect(new Set(rows.map((row) => `${row.requestId} ${row.sku}`)).size).toBe(rows.length);
	});

	test("tells of free requests and of what the operator bears, and no description runs in a spreadsheet", async () => {
		const csv = (await run("--from", day(5))).stdout;
		expect(csv.split("\r\n")[1]).toContain(`,k1,"'=HYPERLINK(""http://x"",""a,b"")\nü",chat,,,200,5,,,,,,0,`);
		expect(csv).toContain("m-llm-output-mtoken,0.002333,0.000003,0.000000007,OVERRUN,,\r\n");
		const [free, overrun] = (await run("--from", day(5), "--format", "ndjson")).stdout.trimEnd().split("\n");
		expect(JSON.parse(free ?? "")).toMatchObject({ requestId: "free", sku: null, units: null, charged: 0, currency: null });
		expect(JSON.parse(overrun ?? "")).toMatchObject({ key: '=HYPERLINK("http://x","a,b")\nü', units: 0.000003, charged: 7e-9 });
	});

	test("tells the upstream's cost and the margin of models that have one, the operator's losses too", async () => {
		const file = join(dataDir, "cost.yaml");
		const cost = { input: 0.05, output: 0.4 };
		writeFileSync(file, JSON.stringify({ models: { entries: { long: { type: "text", cost } } } }));
		const { stdout } = await run("--config", file, "--from", day(0), "--to", `${day(0)}T00:00:02Z`, "--format", "ndjson");
		const rows = stdout
			.trimEnd()
			.split("\n")
			.map((line) => JSON.parse(line) as Record<string, unknown>);
		expect(rows.map(({ sku, charged, costUsd, marginUsd }) => [sku, charged, costUsd, marginUsd])).toEqual([
			["long-llm-input-mtoken", 0.000001, 0.0000005, 0.0000005],
			["long-llm-output-mtoken", 0.000003, 0.000004, -0.000001],
		]);
		const late = (await run("--config", file, "--from", day(5), "--format", "ndjson")).stdout;
		expect(late).toContain('"currency":"OVERRUN","costUsd":null,"marginUsd":null}');
	});

	test("memory does not grow with the range, where the reader is slow too; a reader that leaves ends it", async () => {
		const main = join(import.meta.dir, "../../src/main.ts");
		const child = Bun.spawn([process.execPath, main, "usage", "export", "--data", dataDir, "--format", "ndjson"], {
			stdin: "ignore",
			stdout: "pipe",
			stderr: "inherit",
		});
		let bytes = 0;
		let peakMb = 0;
		for await (const part of child.stdout) {
			bytes += part.length;
			if (bytes < 10_000_000) await Bun.sleep(1);
			peakMb = Math.max(peakMb, residentMb(child.pid));
		}
		expect(await child.exited).toBe(0);
		expect(bytes).toBeGreaterThan(110_000_000);
		expect(peakMb).toBeLessThan(190);
		const left = Bun.spawn(["sh", "-c", '"$0" "$1" usage export --data "$2" | head -n 1', process.execPath, main, dataDir], {
			stdin: "ignore",
			stdout: "pipe",
			stderr: "pipe",
		});
		expect(await new Response(left.stdout).text()).toStartWith("timestamp,");
		expect(await new Response(left.stderr).text()).toBe("");
	});

	test.each([
		[["--format", "xml"], "--format: expected csv or ndjson"],
		[["--from", "yesterday"], "--from and --to: expected a day"],
		[["--from", "2026-02-30"], "--from and --to: expected a day"],
		[["--from", "2026-10-02", "--to", "2026-10-02"], "--to must be later than --from"],
	])("refuses %j", async (args, message) => {
		const { code, stdout, stderr } = await run(...args);
		expect([code, stdout]).toEqual([1, ""]);
		expect(stderr).toContain(message);
	});

	test("a range with nothing in it is a header row", async () => {
		expect((await run("--from", "2036-01-01", "--to", "2036-01-02")).stdout.split("\r\n").length).toBe(2);
		expect((await run("--from", "2036-01-01", "--to", "2036-01-02", "--format", "ndjson")).stdout).toBe("");
	});
});
