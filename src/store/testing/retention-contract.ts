/** The effects of retention on any store: files, sums that stay, and books that balance after each step. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { sql } from "kysely";
import { requestId, SAMPLE_DAY, samplePost } from "../../journal/testing/sample-records.ts";
import { findRequest, nano } from "../../ledger/index.ts";
import type { AdminStore } from "../admin.ts";
import { openStore } from "../index.ts";
import { usageHistory } from "../queries/usage-history.ts";
import { usagePage } from "../queries/usage-page.ts";
import { type ArchiveProgress, archiveStep } from "../retention/archive-step.ts";
import { ARCHIVED_MOVEMENT_COLUMNS, ARCHIVED_POST_COLUMNS } from "../retention/archived-rows.ts";
import { checkArchives } from "../retention/check-archives.ts";
import { foldUsageStep } from "../retention/fold-usage-step.ts";
import { pruneStep } from "../retention/prune-step.ts";
import { OLD_MONTHS, type OldMonths, writeOldMonths } from "./old-months.ts";
import type { StoreFolder } from "./store-folder.ts";

/** No divisor of a month's posts, so that parts end anywhere. */
const POSTS_A_STEP = 7;
const MAX_STEPS = 200;
const [FIRST, SECOND, THIRD] = OLD_MONTHS;

/** Defines the tests; each gets its own books. */
export function testRetention(createStore: () => StoreFolder | Promise<StoreFolder>): void {
	let books: StoreFolder;
	let admin: AdminStore;
	let old: OldMonths;
	let folder: string;

	beforeEach(async () => {
		books = await createStore();
		old = await writeOldMonths((now) => books.admin(now));
		admin = books.admin(() => old.nowMs);
		folder = join(books.dir, "archive");
	});

	afterEach(() => books.remove());

	const step = (before: string, store = admin) => archiveStep(store, { before, folder, postsAStep: POSTS_A_STEP });

	/** Makes steps until `until` returns true, or nothing is left; `each` runs after every one. */
	async function archive(
		before: string,
		each: () => Promise<void> = async () => {},
		until: (progress: ArchiveProgress) => boolean = () => false,
	): Promise<ArchiveProgress> {
		for (let steps = 0; steps < MAX_STEPS; steps++) {
			const progress = await step(before);
			await each();
			if (progress.state === "idle" || until(progress)) return progress;
		}
		throw new Error("the archive does not come to an end");
	}

	async function expectBalance(): Promise<void> {
		expect((await books.audit()).findings).toEqual([]);
	}

	const balances = () =>
		admin.db.selectFrom("budgets").selectAll().orderBy("account_id").orderBy("source").orderBy("day").execute();
	const requestsLeft = async () =>
		(await admin.db.selectFrom("posts").select("request_id").orderBy("id").execute()).map((post) => post.request_id);
	const linesOf = (month: string) =>
		gunzipSync(readFileSync(join(folder, `${month}.ndjson.gz`)))
			.toString()
			.trim()
			.split("\n")
			.map((line) => JSON.parse(line) as { post: Record<string, unknown>; movements: Record<string, unknown>[] });

	test("the columns of an archive are those of the store", async () => {
		const columnsOf = async (table: "posts" | "movements") =>
			Object.keys(await admin.db.selectFrom(table).selectAll().limit(1).executeTakeFirstOrThrow());
		expect((await columnsOf("posts")).sort()).toEqual([...ARCHIVED_POST_COLUMNS].sort());
		expect((await columnsOf("movements")).sort()).toEqual(["post_id", ...ARCHIVED_MOVEMENT_COLUMNS].sort());
	});

	test("old months go into files month by month, and the books balance after every step", async () => {
		await expectBalance();
		const before = await balances();
		const posts = await admin.db.selectFrom("posts").selectAll().orderBy("id").execute();
		const charges = await admin.db.selectFrom("movements").selectAll().where("post_id", "is not", null).orderBy("id").execute();
		await archive(THIRD, expectBalance);
		expect(readdirSync(folder).sort()).toEqual(
			[FIRST, SECOND].flatMap((month) => [`${month}.ndjson.gz`, `${month}.ndjson.gz.sha256`]),
		);
		for (const month of [FIRST, SECOND]) {
			expect(linesOf(month).map((line) => line.post.request_id)).toEqual([...(old.requests[month] ?? [])]);
			const sum = createHash("sha256").update(readFileSync(join(folder, `${month}.ndjson.gz`)));
			expect(readFileSync(join(folder, `${month}.ndjson.gz.sha256`), "utf8")).toBe(`${sum.digest("hex")}  ${month}.ndjson.gz\n`);
		}
		expect(await requestsLeft()).toEqual([...(old.requests[THIRD] ?? [])]);
		expect(await balances()).toEqual(before);
		// The files contain the former rows, one by one.
		const archived = [FIRST, SECOND].flatMap(linesOf);
		const rows = (list: readonly object[]) =>
			list.map((row) => JSON.stringify(row, (_, value) => (typeof value === "bigint" ? Number(value) : value)));
		const pick = (row: object, columns: readonly string[]) =>
			Object.fromEntries(columns.map((name) => [name, (row as Record<string, unknown>)[name]]));
		expect(rows(archived.map((line) => line.post))).toEqual(
			rows(posts.slice(0, archived.length).map((post) => pick(post, ARCHIVED_POST_COLUMNS))),
		);
		const moved = archived.flatMap((line) => line.movements);
		expect(rows(moved)).toEqual(rows(charges.slice(0, moved.length).map((row) => pick(row, ARCHIVED_MOVEMENT_COLUMNS))));
		expect(await findRequest(admin.db, old.requests[FIRST]?.[0] ?? "")).toBeNull();
		expect(await step(THIRD)).toEqual({ state: "idle" });
		expect((await checkArchives(admin.db, folder)).findings).toEqual([]);
	});

	test("everything may go: what is booked afterwards is numbered on, in its own place", async () => {
		await archive("2024-11");
		expect(await requestsLeft()).toEqual([]);
		await expectBalance();
		const accountId = old.accountIds[0] ?? "";
		const history = () => usageHistory(admin, { accountId, currency: null, fromMs: null, toMs: null, after: null, limit: 10 });
		expect(await history()).toEqual({ entries: [], next: null });
		const { store, journal } = await openStore({
			dataDir: books.dir,
			postgres: books.postgres,
			journal: { minFreeDiskBytes: 0 },
		});
		await store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(10_000) });
		await journal.append(samplePost(requestId(1), accountId));
		await store.close();
		await expectBalance();
		const archived = await admin.db
			.selectFrom("statement_starts")
			.selectAll()
			.where("account_id", "=", accountId)
			.executeTakeFirstOrThrow();
		const post = await admin.db.selectFrom("posts").selectAll().executeTakeFirstOrThrow();
		expect(post.entries_usd).toBe(archived.usd + 2n);
		expect(post.id).toBeGreaterThan(119n);
		expect((await history()).entries.map((entry) => entry.requestId)).toEqual([requestId(1), requestId(1)]);
		await archive("2024-11");
		expect(await requestsLeft()).toEqual([requestId(1)]);
	});

	test("statements begin with the first entry that is kept: by page, by cursor, in each currency", async () => {
		const accountId = old.accountIds[0] ?? "";
		const page = (order: "asc" | "desc", offset: number, currency: "usd" | "diem" | null = null, fromMs: number | null = null) =>
			usagePage(admin, { accountId, currency, fromMs, toMs: null, order, offset, limit: 10 });
		const all = await usagePage(admin, {
			accountId,
			currency: null,
			fromMs: null,
			toMs: null,
			order: "asc",
			offset: 0,
			limit: 500,
		});
		const kept = all.entries.filter((entry) => entry.bookedAtMs >= Date.parse(`${SECOND}-01`));
		const ofDiem = kept.filter((entry) => entry.source === "diem");
		await archive(SECOND, async () => {
			const { entries, total } = await page("asc", 0);
			expect(entries).toEqual(all.entries.slice(all.total - total, all.total - total + 10));
		});
		expect(await page("asc", 0)).toEqual({ entries: kept.slice(0, 10), total: kept.length });
		expect(await page("desc", kept.length - 3)).toEqual({ entries: kept.slice(0, 3).reverse(), total: kept.length });
		expect(await page("desc", kept.length + 5)).toEqual({ entries: [], total: kept.length });
		expect(await page("asc", 0, "diem")).toEqual({ entries: ofDiem.slice(0, 10), total: ofDiem.length });
		expect((await page("asc", 0, null, 0)).total).toBe(kept.length);
		// The cursor is from before the removal, and points into archived entries.
		const history = await usageHistory(admin, { accountId, currency: null, fromMs: null, toMs: null, after: 3, limit: 5 });
		expect(history.entries).toEqual(kept.slice(0, 5));
		expect(history.next).toBe(all.total - kept.length + 5);
	});

	test("a post that was refunded stays, and its statement goes on behind it", async () => {
		const posts = await admin.db.selectFrom("posts").selectAll().orderBy("id").execute();
		// The last post of a part, one in the middle, and the last of the month.
		const refunded = [posts[POSTS_A_STEP - 2], posts[17], posts[36]].flatMap((post) => (post === undefined ? [] : [post]));
		for (const post of refunded) {
			expect(post.entries_usd).not.toBeNull();
			await admin.db.transaction().execute(async (tx) => {
				const money = { amount: 1_000, unit: "usd", day: 20_000, occurred_at: old.nowMs, booked_at: old.nowMs } as const;
				const { id } = await tx
					.insertInto("movements")
					.values({ ...money, kind: "grant", debit: "revenue", credit: post.account_id, balance_after: null })
					.returning("id")
					.executeTakeFirstOrThrow();
				const row = { reference: `r${post.id}`, unit: "usd", amount: 1_000, movement_id: id, created_at: old.nowMs } as const;
				await tx
					.insertInto("refunds")
					.values({ ...row, account_id: post.account_id, post_id: post.id })
					.execute();
				await tx
					.updateTable("budgets")
					.set((set) => ({ balance: set("balance", "+", 1_000n) }))
					.where("account_id", "=", post.account_id)
					.where("source", "=", "usd")
					.execute();
			});
		}
		await archive(SECOND, expectBalance);
		expect((await requestsLeft()).slice(0, 3)).toEqual(refunded.map((post) => post.request_id));
		expect(linesOf(FIRST).length).toBe(old.requests[FIRST]?.length ?? 0);
		expect((await checkArchives(admin.db, folder)).findings).toEqual([]);
		for (const accountId of old.accountIds) {
			const { entries, total } = await usagePage(admin, {
				accountId,
				currency: null,
				fromMs: null,
				toMs: null,
				order: "asc",
				offset: 0,
				limit: 500,
			});
			expect(entries.length).toBe(total);
			expect(entries.every((entry) => entry.bookedAtMs >= Date.parse(`${SECOND}-01`))).toBe(true);
		}
		await archive("2024-11", expectBalance);
		expect(await requestsLeft()).toEqual(refunded.map((post) => post.request_id));
	});

	describe("a kill", () => {
		test("between the file and the store costs only the step", async () => {
			for (let posts = 0; posts < 14; ) {
				const progress = await step(SECOND);
				if (progress.state === "writing") posts = progress.posts;
			}
			// A torn part that was written but not recorded.
			const part = join(folder, `${FIRST}.ndjson.gz.part`);
			appendFileSync(part, "half a part");
			await archive(SECOND, expectBalance);
			expect(linesOf(FIRST).length).toBe(old.requests[FIRST]?.length ?? 0);
			expect((await checkArchives(admin.db, folder)).findings).toEqual([]);
		});

		test("behind the renaming, before it is noted, costs only the step", async () => {
			const whole = old.requests[FIRST]?.length ?? 0;
			await archive(SECOND, undefined, (progress) => progress.state === "writing" && progress.posts === whole);
			renameSync(join(folder, `${FIRST}.ndjson.gz.part`), join(folder, `${FIRST}.ndjson.gz`));
			await archive(SECOND, expectBalance);
			expect((await checkArchives(admin.db, folder)).findings).toEqual([]);
			expect(await requestsLeft()).toEqual([...(old.requests[SECOND] ?? []), ...(old.requests[THIRD] ?? [])]);
		});

		test("-9 at any moment leaves books that balance, and nothing is lost or left behind", async () => {
			const args = [books.dir, books.postgres ?? "", folder, THIRD, String(old.nowMs)];
			const runner = join(import.meta.dir, "archive-runner.ts");
			let kills = 0;
			for (let round = 0, code: number | null = null; code !== 0; round++) {
				expect(round).toBeLessThan(100);
				const child = Bun.spawn([process.execPath, runner, ...args, String(round)], { stdout: "inherit", stderr: "inherit" });
				code = await child.exited;
				if (code !== 0) {
					kills++;
					expect({ code, signal: child.signalCode }).toEqual({ code: 137, signal: "SIGKILL" });
				}
				await expectBalance();
			}
			expect(kills).toBeGreaterThan(5);
			expect(await requestsLeft()).toEqual([...(old.requests[THIRD] ?? [])]);
			for (const month of [FIRST, SECOND]) {
				expect(linesOf(month).map((line) => line.post.request_id)).toEqual([...(old.requests[month] ?? [])]);
			}
			expect((await checkArchives(admin.db, folder)).findings).toEqual([]);
		});
	});

	test("two that archive into one folder at once do it once", async () => {
		const args = [books.dir, books.postgres ?? "", folder, THIRD, String(old.nowMs), "-1"];
		const runner = join(import.meta.dir, "archive-runner.ts");
		const runners = [1, 2].map(() => Bun.spawn([process.execPath, runner, ...args], { stdout: "inherit", stderr: "inherit" }));
		expect(await Promise.all(runners.map((child) => child.exited))).toEqual([0, 0]);
		await archive(THIRD, expectBalance);
		for (const month of [FIRST, SECOND]) {
			expect(linesOf(month).map((line) => line.post.request_id)).toEqual([...(old.requests[month] ?? [])]);
		}
		expect(await requestsLeft()).toEqual([...(old.requests[THIRD] ?? [])]);
		expect((await checkArchives(admin.db, folder)).findings).toEqual([]);
	});

	describe("nothing is removed", () => {
		const removing = () => archive(SECOND, undefined, (progress) => progress.state === "removing");
		const file = () => join(folder, `${FIRST}.ndjson.gz`);

		test("where the unfinished file is lost: it is written anew", async () => {
			await archive(SECOND, undefined, (progress) => progress.state === "writing" && progress.posts >= 14);
			rmSync(join(folder, `${FIRST}.ndjson.gz.part`));
			await archive(SECOND, expectBalance);
			expect(linesOf(FIRST).length).toBe(old.requests[FIRST]?.length ?? 0);
		});

		test("where the file is lost, or says something else; put back, it goes on", async () => {
			await removing();
			const left = await requestsLeft();
			const good = readFileSync(file());
			rmSync(file());
			await expect(step(SECOND)).rejects.toMatchObject({ code: "ARCHIVE_FAULT" });
			const bad = Buffer.from(good);
			const at = Math.floor(bad.length / 2);
			bad[at] = (bad[at] ?? 0) ^ 1;
			writeFileSync(file(), bad);
			const fault = await archive(SECOND).catch((error: Error) => error);
			expect(fault).toMatchObject({ code: "ARCHIVE_FAULT" });
			expect((await checkArchives(admin.db, folder)).findings.map((found) => found.check)).toEqual(["archives"]);
			await expectBalance();
			expect((await requestsLeft()).length).toBeLessThanOrEqual(left.length);
			writeFileSync(file(), good);
			await archive(SECOND, expectBalance);
			expect((await checkArchives(admin.db, folder)).findings).toEqual([]);
		});

		test("while another one writes the archive; after ten minutes it is taken over", async () => {
			await step(SECOND);
			await step(SECOND);
			await admin.db.updateTable("archives").set({ owner: "another-machine:17:/archives" }).execute();
			const other = { before: SECOND, folder: join(books.dir, "elsewhere"), postsAStep: POSTS_A_STEP };
			expect(await archiveStep(admin, other)).toMatchObject({ state: "elsewhere", month: FIRST });
			expect(existsSync(other.folder)).toBe(false);
			const later = books.admin(() => old.nowMs + 11 * 60_000);
			for (let steps = 0; steps < 12; steps++) await archiveStep(later, other);
			await expectBalance();
			expect(readdirSync(other.folder)).toContain(`${FIRST}.ndjson.gz`);
		});
	});

	describe("the store itself refuses", () => {
		const refused = async (statement: string): Promise<string> => {
			try {
				await sql.raw(statement).execute(admin.db);
				return "done";
			} catch (error) {
				return (error as Error).message;
			}
		};

		test("to let go of posts and charges without an archive", async () => {
			expect(await refused("DELETE FROM movements WHERE kind = 'charge'")).toContain("never deleted");
			expect(await refused("DELETE FROM posts WHERE price = 0")).toContain("never deleted");
			expect(await refused("UPDATE movements SET amount = amount + 1 WHERE kind = 'charge'")).toContain("never changed");
			const carried = `'${old.accountIds[0]}', '${old.accountIds[0]}', 'revenue', 'usd', 20000, 5, 1, 1`;
			expect(
				await refused(
					`INSERT INTO carry_forwards (account_id, debit, credit, unit, day, amount, units, rows) VALUES (${carried})`,
				),
			).toContain("carry-forwards are made by archives");
		});

		test("to let go of others than those of the archive that is being removed", async () => {
			await archive(SECOND, undefined, (progress) => progress.state === "removing");
			const { removed_to, last_post_id } = await admin.db.selectFrom("archives").selectAll().executeTakeFirstOrThrow();
			expect(removed_to).toBeGreaterThan(0n);
			expect(await refused(`DELETE FROM movements WHERE post_id > ${last_post_id}`)).toContain("never deleted");
			expect(await refused(`DELETE FROM posts WHERE price = 0 AND id > ${last_post_id}`)).toContain("never deleted");
			expect(await refused("DELETE FROM movements WHERE kind = 'grant'")).toContain("never deleted");
			expect(await refused("UPDATE movements SET amount = amount + 1")).toContain("never changed");
			expect(await refused("UPDATE posts SET price = price + 1")).toContain("never changed");
			expect(await refused("UPDATE carry_forwards SET amount = amount - 1 WHERE amount > 1")).toMatch(/only grow/);
			expect(await refused("DELETE FROM carry_forwards")).toContain("never deleted");
			expect(await refused("DELETE FROM archives")).toMatch(/deleted/);
			await archive(SECOND, expectBalance);
			expect(await refused("DELETE FROM posts WHERE price = 0")).toContain("never deleted");
			expect(await refused("UPDATE archives SET state = 'removing', removed_to = after_post_id")).toContain("never changed");
			await expectBalance();
		});
	});

	test("old days of usage become one; what a key used in its life stays, and the books balance after every step", async () => {
		const accountId = old.accountIds[0] ?? "";
		const rows = () => admin.db.selectFrom("usage_daily").selectAll().execute();
		const total = (list: Awaited<ReturnType<typeof rows>>) => list.reduce((sum, row) => sum + row.amount, 0n);
		const before = await rows();
		const beforeDay = Date.parse(`${THIRD}-01`) / 86_400_000;
		const fold = async (day: number) => {
			for (let steps = 0; await foldUsageStep(admin, { beforeDay: day, keysAStep: 1 }); steps++) {
				await expectBalance();
				expect(steps).toBeLessThan(MAX_STEPS);
			}
		};
		await fold(beforeDay);
		const after = await rows();
		expect(total(after)).toBe(total(before));
		expect(after.every((row) => row.day === 0n || row.day >= BigInt(beforeDay))).toBe(true);
		const ofKey = (list: typeof after) => total(list.filter((row) => row.key_id === old.keyId && row.account_id === accountId));
		expect(ofKey(after)).toBe(ofKey(before));
		expect(after.filter((row) => row.day >= BigInt(beforeDay))).toEqual(before.filter((row) => row.day >= BigInt(beforeDay)));
		// Runs together with the archive of charges, in either order, and a second time.
		await archive(THIRD, expectBalance);
		await fold(beforeDay + 10);
		await archive("2024-11", expectBalance);
		expect(total(await rows())).toBe(total(before));
	});

	test("old notices and refused requests go, the newest notice stays", async () => {
		const row = { account_id: old.accountIds[0] ?? "", key_id: old.keyId, model_id: "m", tier: "paid", kind: "RPM" } as const;
		for (const at of [1_000, 2_000, 3_000])
			await admin.db
				.insertInto("exceeded_limits")
				.values({ ...row, exceeded_at: at })
				.execute();
		const changes = () => admin.db.selectFrom("changes").select("id").orderBy("id").execute();
		const newest = (await changes()).at(-1);
		expect((await changes()).length).toBeGreaterThan(1);
		const order = { changesBeforeMs: old.nowMs, exceededLimitsBeforeMs: 3_000 };
		expect(await pruneStep(admin, order)).toBe(true);
		expect(await pruneStep(admin, order)).toBe(false);
		expect(await changes()).toEqual(newest === undefined ? [] : [newest]);
		expect((await admin.db.selectFrom("exceeded_limits").select("exceeded_at as at").execute()).map((limit) => limit.at)).toEqual(
			[3_000n],
		);
	});
}
