/** Which of several servers is the primary, on two real ones. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../test/support/free-port.ts";
import { once, type PostgresCluster, type Standby, startPostgres, startStandby } from "../../../test/support/postgres-cluster.ts";
import { until } from "../../../test/support/until.ts";
import { systemTimers, type Timers } from "../../telemetry/clock.ts";
import { PrimaryFinder, RememberedTimelines } from "./primary.ts";
import { TimelineFile } from "./timeline-file.ts";

let first: PostgresCluster;
let second: Standby;
let folder: string;

beforeAll(async () => {
	first = await startPostgres();
	second = await startStandby(first, "standby");
	folder = mkdtempSync(join(tmpdir(), "turnpike-primary-"));
});

afterAll(async () => {
	await second.stop();
	await first.stop();
	rmSync(folder, { recursive: true, force: true });
});

const address = (...ports: number[]) => `postgres://postgres@${ports.map((port) => `127.0.0.1:${port}`).join(",")}/postgres`;
const portOf = async (finder: PrimaryFinder) => Number(new URL(await finder.find()).port);
const finderOf = (...ports: number[]) => new PrimaryFinder(address(...ports), systemTimers);
const faultOf = (finder: PrimaryFinder) => finder.find().then(String, ({ message }: Error) => message);

/** Looks for a promoted server all the time. */
const impatient: Timers = { after: (ms, action) => systemTimers.after(ms >= 5_000 ? 10 : ms, action) };

// The tests are one story: the standby is promoted beside its primary, then both are started and stopped.

test("a standby and a server that is not there are skipped, wherever they stand in the list", async () => {
	expect(await portOf(finderOf(second.port, first.port))).toBe(first.port);
	expect(await portOf(finderOf(await freePort(), second.port, first.port))).toBe(first.port);
});

test("without a primary the error says what each host answered", async () => {
	const free = await freePort();
	const text = await faultOf(finderOf(free, second.port));
	expect(text).toContain(`postgres://127.0.0.1:${second.port}/postgres: is in recovery`);
	expect(text).toContain(`postgres://127.0.0.1:${free}/postgres: `);
	expect(
		await faultOf(new PrimaryFinder(address(first.port, second.port).replace(/\/postgres$/, "/nothing"), systemTimers)),
	).toContain('database "nothing" does not exist');
});

test("a server that is set to read-only is skipped", async () => {
	const readOnly = address(first.port, second.port).replace("postgres@", "reader@");
	await once(first.adminUrl, async (sql) => {
		await sql.unsafe("CREATE ROLE reader LOGIN");
		await sql.unsafe("ALTER ROLE reader SET default_transaction_read_only = on");
	});
	// The standby hears of the role a moment later.
	await until(async () => (await faultOf(new PrimaryFinder(readOnly, systemTimers))).includes("is read-only"));
});

test("a server that is promoted while the old primary still answers is moved to", async () => {
	const finder = new PrimaryFinder(address(first.port, second.port), impatient);
	let moved = 0;
	finder.onMoved(() => moved++);
	finder.watch();
	expect(await portOf(finder)).toBe(first.port);
	await second.promote();
	await until(() => moved === 1);
	expect(await portOf(finder)).toBe(second.port);
	finder.stop();
});

test("of two that take writes the later promoted one counts, and the other is refused as long as the node remembers", async () => {
	const timelines = new TimelineFile(folder);
	expect(await portOf(new PrimaryFinder(address(first.port, second.port), systemTimers, timelines))).toBe(second.port);
	const alone = address(first.port, await freePort());
	expect(await portOf(new PrimaryFinder(alone, systemTimers))).toBe(first.port);
	const restarted = new PrimaryFinder(alone, systemTimers, new TimelineFile(folder));
	expect(await faultOf(restarted)).toContain("was replaced by another primary");
});

test("a lost connection makes the next use look again, and one host is never asked", async () => {
	const finder = new PrimaryFinder(address(first.port, second.port), systemTimers, new RememberedTimelines());
	const found = await finder.find();
	finder.lost("another address");
	await second.crash();
	expect(await finder.find()).toBe(found);
	finder.lost(found);
	expect(await faultOf(finder)).toContain("no server of the store takes writes");
	await second.start();
	await until(async () => (await faultOf(finder)) === found);
	const single = finderOf(await freePort());
	single.lost(await single.find());
	expect(await single.find()).toContain("127.0.0.1");
});
