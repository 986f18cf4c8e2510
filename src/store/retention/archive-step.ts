/**
 * Moves old posts and their charges into archive files, a bounded step per call. The progress is only in the store
 * (`archives`) and on the disk, so that a kill costs at most the current step: the next call continues, in this
 * process or another.
 *
 * writing: parts of the month's posts are appended to the file, in the order of their ids; when all are written, the
 * file is summed and gets its final name. removing: each part is read back from the disk and compared with the rows
 * of the store. Only where both agree are its rows deleted, in one transaction with what the triggers carry forward.
 */
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { type Selectable, sql, type Transaction, type Updateable } from "kysely";
import { syncFolderNow } from "../../journal/durable-file.ts";
import type { MoneySource } from "../../journal/records.ts";
import type { AdminStore } from "../admin/open-admin.ts";
import type { StoreDb, Tables } from "../tables.ts";
import {
	ArchiveFaultError,
	archivePath,
	encodePart,
	FileSum,
	fileBytes,
	readPart,
	settleFile,
	unfinishedPath,
	writePart,
	writeSum,
} from "./archive-file.ts";
import { isAbandoned, ownerOf } from "./archive-owner.ts";
import { readArchivedRows } from "./archived-rows.ts";
import { addMonths, monthOf, monthStartMs } from "./month.ts";

export interface ArchiveOrder {
	/**
	 * The first month that stays, like `2026-09`: earlier posts go. It must have begun, unless the caller knows better.
	 */
	readonly before: string;
	/** Folder of the files. */
	readonly folder: string;
	/** Most posts that one step moves. */
	readonly postsAStep?: number;
}

export type ArchiveProgress =
	/** Nothing is left to archive. */
	| { readonly state: "idle" }
	| { readonly state: "writing" | "removing"; readonly month: string; readonly posts: number }
	| { readonly state: "done"; readonly month: string; readonly posts: number; readonly file: string }
	/** Another process writes the open archive, on this machine or another. */
	| { readonly state: "elsewhere"; readonly month: string; readonly owner: string };

type Archive = Selectable<Tables["archives"]>;

const POSTS_A_STEP = 500;

/**
 * Makes one step. Throws `ArchiveFaultError` where a file was changed, and errors of the store and the file system;
 * nothing is lost then.
 */
export async function archiveStep(admin: AdminStore, order: ArchiveOrder): Promise<ArchiveProgress> {
	const owner = ownerOf(order.folder);
	const openArchive = await admin.db.selectFrom("archives").selectAll().where("state", "<>", "done").executeTakeFirst();
	if (openArchive === undefined) return begin(admin, order, owner);
	if (openArchive.owner !== owner) {
		if (!isAbandoned(openArchive.owner, Number(openArchive.moved_at), admin.wallMs()) || !canContinue(openArchive, order))
			return { state: "elsewhere", month: openArchive.month, owner: openArchive.owner };
		await recordProgress(admin, openArchive, { owner });
	}
	return openArchive.state === "writing" ? write(admin, order, openArchive) : remove(admin, order, openArchive);
}

/**
 * Returns true where this process can continue: a file can be rewritten, but removal can continue only where the file
 * is.
 */
function canContinue({ state, month, bytes }: Archive, { folder }: ArchiveOrder): boolean {
	return state === "writing" || fileBytes(archivePath(folder, month)) === Number(bytes);
}

/** Returns the id up to which everything is archived. */
async function archivedTo(db: StoreDb): Promise<number> {
	const row = await db
		.selectFrom("archives")
		.select((select) => select.fn.max("last_post_id").as("last"))
		.executeTakeFirst();
	return Number(row?.last ?? 0);
}

async function begin(admin: AdminStore, { before, folder }: ArchiveOrder, owner: string): Promise<ArchiveProgress> {
	const month = await admin.db.transaction().execute(async (tx) => {
		const after = await archivedTo(tx);
		const oldest = await tx
			.selectFrom("posts")
			.select("booked_at")
			.where("id", ">", BigInt(after))
			.orderBy("id")
			.limit(1)
			.executeTakeFirst();
		if (oldest === undefined) return null;
		const latest = await tx.selectFrom("archives").select("month").orderBy("month", "desc").limit(1).executeTakeFirst();
		const ofOldest = monthOf(Number(oldest.booked_at));
		const next = latest === undefined || ofOldest > latest.month ? ofOldest : addMonths(latest.month, 1);
		if (next >= before || Number(oldest.booked_at) >= monthStartMs(before)) return null;
		if (await isOpen(tx)) return next;
		const row = { month: next, state: "writing", owner, after_post_id: after, last_post_id: after, bytes: 0 } as const;
		await tx
			.insertInto("archives")
			.values({ ...row, posts: 0, movements: 0, sha256: null, removed_to: after, moved_at: admin.wallMs() })
			.execute();
		return next;
	});
	if (month === null) return { state: "idle" };
	mkdirSync(folder, { recursive: true, mode: 0o700 });
	return { state: "writing", month, posts: 0 };
}

async function isOpen(tx: StoreDb): Promise<boolean> {
	return (await tx.selectFrom("archives").select("month").where("state", "<>", "done").executeTakeFirst()) !== undefined;
}

async function write(admin: AdminStore, order: ArchiveOrder, archive: Archive): Promise<ArchiveProgress> {
	const { month } = archive;
	const bytes = Number(archive.bytes);
	const unfinished = unfinishedPath(order.folder, month);
	const path = existsSync(unfinished) ? unfinished : archivePath(order.folder, month);
	if (bytes > 0 && fileBytes(path) < bytes) {
		await recordProgress(admin, archive, { ...INITIAL_COUNTS, last_post_id: archive.after_post_id });
		return { state: "writing", month, posts: 0 };
	}
	const rows = await readArchivedRows(
		admin.db,
		Number(archive.last_post_id),
		Number.MAX_SAFE_INTEGER,
		order.postsAStep ?? POSTS_A_STEP,
	);
	const end = rows.findIndex((row) => row.bookedAtMs >= monthStartMs(addMonths(month, 1)));
	const monthRows = end === -1 ? rows : rows.slice(0, end);
	const last = monthRows.at(-1);
	if (last === undefined) return finish(admin, order, archive, path);
	mkdirSync(order.folder, { recursive: true, mode: 0o700 });
	const part = encodePart(monthRows.map((row) => row.line));
	writePart(unfinished, part, bytes);
	const posts = Number(archive.posts) + monthRows.length;
	const movements = Number(archive.movements) + monthRows.reduce((sum, row) => sum + row.movements, 0);
	await recordProgress(admin, archive, { last_post_id: last.postId, bytes: bytes + part.length, posts, movements });
	return { state: "writing", month, posts };
}

/** The initial counts of an archive. */
const INITIAL_COUNTS = { bytes: 0, posts: 0, movements: 0 } as const;

/** Running checksums by file; a new process starts them anew. */
const sums = new Map<string, FileSum>();

/** Sums the file, gives it its final name, and enables the removal. */
async function finish(admin: AdminStore, { folder }: ArchiveOrder, archive: Archive, path: string): Promise<ArchiveProgress> {
	const { month } = archive;
	const bytes = Number(archive.bytes);
	const sum = sums.get(path) ?? new FileSum(path, bytes);
	sums.set(path, sum);
	let sha256: string | null = null;
	try {
		sha256 = sum.next();
	} finally {
		if (sha256 !== null || fileBytes(path) < bytes) sums.delete(path);
	}
	if (sha256 !== null) {
		settleFile(path, bytes);
		const finalPath = archivePath(folder, month);
		if (path !== finalPath) renameSync(path, finalPath);
		writeSum(folder, month, sha256);
		syncFolderNow(folder);
		await recordProgress(admin, archive, { state: "removing", sha256 });
	}
	return { state: "writing", month, posts: Number(archive.posts) };
}

/** Records the archive's new progress, unless another process advanced it meanwhile. */
async function recordProgress(admin: AdminStore, archive: Archive, to: Updateable<Tables["archives"]>): Promise<void> {
	await admin.db.transaction().execute((tx) =>
		tx
			.updateTable("archives")
			.set({ ...to, moved_at: admin.wallMs() })
			.where("month", "=", archive.month)
			.where("state", "=", archive.state)
			.where("bytes", "=", archive.bytes)
			.where("removed_to", "=", archive.removed_to)
			.execute(),
	);
}

async function remove(admin: AdminStore, { folder }: ArchiveOrder, archive: Archive): Promise<ArchiveProgress> {
	const { month } = archive;
	const path = archivePath(folder, month);
	const posts = Number(archive.posts);
	if (fileBytes(path) !== Number(archive.bytes)) {
		throw new ArchiveFaultError(
			`the archive ${path} is missing or was changed while its posts are being removed: put it back (sha256 ${archive.sha256})`,
		);
	}
	if (archive.removed_bytes === archive.bytes) {
		await recordProgress(admin, archive, { state: "done" });
		return { state: "done", month, posts, file: path };
	}
	const { lines, end } = readPart(path, Number(archive.removed_bytes));
	await admin.db.transaction().execute((tx) => removePart(tx, { archive, lines, end, path, nowMs: admin.wallMs() }));
	return { state: "removing", month, posts };
}

interface Removal {
	readonly archive: Archive;
	readonly lines: readonly string[];
	/** Offset of the next part. */
	readonly end: number;
	readonly path: string;
	readonly nowMs: number;
}

/** Deletes the rows of one part after they were found to agree with the file. */
async function removePart(tx: Transaction<Tables>, { archive, lines, end, path, nowMs }: Removal): Promise<void> {
	const currentArchive = await tx.selectFrom("archives").selectAll().where("month", "=", archive.month).executeTakeFirstOrThrow();
	// Another process did this part meanwhile.
	if (currentArchive.state !== "removing" || currentArchive.removed_to !== archive.removed_to) return;
	const rows = await readArchivedRows(tx, Number(currentArchive.removed_to), Number(currentArchive.last_post_id), lines.length);
	const last = rows.at(-1);
	if (last === undefined || rows.length !== lines.length || rows.some((row, index) => row.line !== lines[index])) {
		const at = rows.find((row, index) => row.line !== lines[index])?.postId ?? Number(currentArchive.removed_to);
		throw new ArchiveFaultError(`the archive ${path} differs from the store at post ${at}: nothing of that part was removed`);
	}
	const between = { after: currentArchive.removed_to, last: BigInt(last.postId) };
	const refunded = await refundedPosts(tx, between);
	const keptIds = new Set(refunded.map((post) => Number(post.id)));
	const movements = rows.reduce((sum, row) => sum + (keptIds.has(row.postId) ? 0 : row.movements), 0);
	const refundedIds = refunded.length === 0 ? [0n] : refunded.map((post) => post.id);
	const deletedRows = await tx
		.deleteFrom("movements")
		.where("post_id", ">", between.after)
		.where("post_id", "<=", between.last)
		.where("post_id", "not in", refundedIds)
		.executeTakeFirst();
	const gonePosts = await tx
		.deleteFrom("posts")
		.where("id", ">", between.after)
		.where("id", "<=", between.last)
		.where("id", "not in", refundedIds)
		.executeTakeFirst();
	if (Number(deletedRows.numDeletedRows) !== movements || Number(gonePosts.numDeletedRows) !== rows.length - refunded.length) {
		throw new ArchiveFaultError(`other rows than those of the archive ${path} would be removed behind post ${between.after}`);
	}
	for (const post of refunded) await startStatementAfter(tx, post);
	await tx
		.updateTable("archives")
		.set({
			removed_to: last.postId,
			removed_bytes: end,
			kept: currentArchive.kept + BigInt(refunded.length),
			moved_at: nowMs,
		})
		.where("month", "=", currentArchive.month)
		.execute();
}

/** Selects posts that were refunded in part or in whole: the refund's row needs them. */
function refundedPosts(tx: StoreDb, { after, last }: { after: bigint; last: bigint }) {
	return tx
		.selectFrom("posts")
		.select(["id", "account_id", "entries_usd", "entries_bundled", "entries_diem"])
		.where("id", ">", after)
		.where("id", "<=", last)
		.where("id", "in", tx.selectFrom("refunds").select("post_id").where("post_id", ">", after).where("post_id", "<=", last))
		.execute();
}

/** Starts the statement behind a retained post too, so that the list has no gaps. */
async function startStatementAfter(tx: StoreDb, post: Awaited<ReturnType<typeof refundedPosts>>[number]): Promise<void> {
	const numbers = { usd: post.entries_usd ?? 0n, bundled: post.entries_bundled ?? 0n, diem: post.entries_diem ?? 0n };
	const larger = (unit: MoneySource) =>
		sql<bigint>`CASE WHEN excluded.${sql.ref(unit)} > statement_starts.${sql.ref(unit)}
			THEN excluded.${sql.ref(unit)} ELSE statement_starts.${sql.ref(unit)} END`;
	await tx
		.insertInto("statement_starts")
		.values({ account_id: post.account_id, ...numbers })
		.onConflict((conflict) =>
			conflict.column("account_id").doUpdateSet({ usd: larger("usd"), bundled: larger("bundled"), diem: larger("diem") }),
		)
		.execute();
}
