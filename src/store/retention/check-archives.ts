/**
 * Compares archive files with the store: none of them was changed, and their sums are what the store carries forward.
 */
import { basename } from "node:path";
import type { StoreDb } from "../tables.ts";
import { ArchiveFaultError, archivePath, FileSum, fileBytes, readPart } from "./archive-file.ts";

export interface ArchiveFinding {
	readonly check: "archives";
	readonly message: string;
	/** Integers as decimal text. */
	readonly numbers: Readonly<Record<string, string | null>>;
}

export interface ArchivesReport {
	readonly findings: readonly ArchiveFinding[];
	readonly files: number;
	readonly posts: number;
}

/** Charges by side, unit and day. */
type Sums = Map<string, { amount: bigint; rows: bigint }>;

const MAX_FINDINGS = 100;

/**
 * Reads every archive that the store knows, in one snapshot of the store. Findings are a missing file, a file with
 * another checksum, and sums that differ from the carry-forwards.
 */
export function checkArchives(db: StoreDb, folder: string): Promise<ArchivesReport> {
	return db
		.transaction()
		.setAccessMode("read only")
		.execute(async (tx) => {
			const archives = await tx.selectFrom("archives").selectAll().where("state", "<>", "writing").orderBy("month").execute();
			const findings: ArchiveFinding[] = [];
			const sums: Sums = new Map();
			let posts = 0;
			for (const archive of archives) {
				const path = archivePath(folder, archive.month);
				try {
					if (fileBytes(path) !== Number(archive.bytes) || sumOf(path, Number(archive.bytes)) !== archive.sha256) {
						findings.push(finding("an archive file is missing or was changed", { file: basename(path), sha256: archive.sha256 }));
						continue;
					}
					const keptIds = await keptPosts(tx, archive.after_post_id, archive.removed_to);
					posts += addUp(path, Number(archive.removed_bytes), keptIds, sums);
				} catch (error) {
					if (!(error instanceof ArchiveFaultError)) throw error;
					findings.push(finding(error.message, { file: basename(path) }));
				}
			}
			// With an unreadable file the sums cannot agree.
			if (findings.length === 0) findings.push(...(await differences(tx, sums)));
			return { findings: findings.slice(0, MAX_FINDINGS), files: archives.length, posts };
		});
}

function sumOf(path: string, bytes: number): string {
	const sum = new FileSum(path, bytes);
	for (;;) {
		const sha256 = sum.next();
		if (sha256 !== null) return sha256;
	}
}

/** Returns posts of an archive that the store still has because they were refunded. */
async function keptPosts(tx: StoreDb, after: bigint, last: bigint): Promise<ReadonlySet<number>> {
	const rows = await tx.selectFrom("posts").select("id").where("id", ">", after).where("id", "<=", last).execute();
	return new Set(rows.map((row) => Number(row.id)));
}

interface ArchivedLine {
	readonly post: { readonly id: number; readonly account_id: string };
	readonly movements: readonly {
		readonly debit: string;
		readonly credit: string;
		readonly unit: string;
		readonly day: number;
		readonly amount: number | string;
	}[];
}

/** Adds up what was removed of a file; returns its number of posts. */
function addUp(path: string, bytes: number, keptIds: ReadonlySet<number>, sums: Sums): number {
	let posts = 0;
	for (let at = 0; at < bytes; ) {
		const { lines, end } = readPart(path, at);
		for (const text of lines) {
			const { post, movements } = JSON.parse(text) as ArchivedLine;
			if (keptIds.has(post.id)) continue;
			posts++;
			for (const { debit, credit, unit, day, amount } of movements) {
				const key = [post.account_id, debit, credit, unit, day].join(" ");
				const sum = sums.get(key) ?? { amount: 0n, rows: 0n };
				sums.set(key, { amount: sum.amount + BigInt(amount), rows: sum.rows + 1n });
			}
		}
		at = end;
	}
	return posts;
}

async function differences(tx: StoreDb, sums: Sums): Promise<ArchiveFinding[]> {
	const findings: ArchiveFinding[] = [];
	const differ = (key: string, carried: string | null, archived: string | null) => {
		const [account = "", debit = "", credit = "", unit = "", day = ""] = key.split(" ");
		findings.push(
			finding("the archives differ from what is carried forward", { account, debit, credit, unit, day, carried, archived }),
		);
	};
	for (const row of await tx.selectFrom("carry_forwards").selectAll().execute()) {
		const key = [row.account_id, row.debit, row.credit, row.unit, row.day].join(" ");
		const sum = sums.get(key);
		if (sum?.amount !== row.amount || sum.rows !== row.rows) differ(key, String(row.amount), sum ? String(sum.amount) : null);
		sums.delete(key);
	}
	for (const [key, sum] of sums) differ(key, null, String(sum.amount));
	return findings;
}

function finding(message: string, numbers: ArchiveFinding["numbers"]): ArchiveFinding {
	return { check: "archives", message, numbers };
}
