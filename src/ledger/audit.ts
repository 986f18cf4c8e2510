/** Proves the ledger from its rows alone: values that are stored twice must agree. The ledger never opens a database. */

import type { StoreDb } from "../store/tables.ts";
import { AUDIT_CHECKS, type AuditCheckName } from "./audit-checks.ts";

export interface AuditFinding {
	readonly check: AuditCheckName;
	/** Describes the disagreement for a human. */
	readonly message: string;
	/** The row and its two numbers, integers as decimal text. */
	readonly numbers: Readonly<Record<string, string | null>>;
}

export interface AuditReport {
	readonly ok: boolean;
	readonly findings: readonly AuditFinding[];
	/** True if a check found more rows than it lists. */
	readonly truncated: boolean;
	readonly counted: {
		readonly accounts: number;
		readonly posts: number;
		readonly movements: number;
		/** By node: the journal sequence that the store has applied. */
		readonly appliedSeq: Readonly<Record<string, number>>;
	};
}

/** A broken invariant usually affects many rows; the first ones are enough to see it. */
const MAX_FINDINGS_PER_CHECK = 100;

/** Checks the whole books in one snapshot, while a running server goes on. The rules are in `audit-checks.ts`. */
export function audit(db: StoreDb): Promise<AuditReport> {
	return db
		.transaction()
		.setAccessMode("read only")
		.execute(async (tx) => {
			const findings: AuditFinding[] = [];
			let truncated = false;
			for (const check of AUDIT_CHECKS) {
				const { rows } = await check.query(MAX_FINDINGS_PER_CHECK + 1).execute(tx);
				truncated ||= rows.length > MAX_FINDINGS_PER_CHECK;
				for (const row of rows.slice(0, MAX_FINDINGS_PER_CHECK)) {
					findings.push({ check: check.name, message: check.message, numbers: asText(row) });
				}
			}
			return { ok: findings.length === 0, findings, truncated, counted: await count(tx) };
		});
}

async function count(tx: StoreDb): Promise<AuditReport["counted"]> {
	const rowsOf = async (table: "accounts" | "posts" | "movements"): Promise<number> => {
		const { rows } = await tx
			.selectFrom(table)
			.select((select) => select.fn.countAll<bigint>().as("rows"))
			.executeTakeFirstOrThrow();
		return Number(rows);
	};
	const nodes = await tx.selectFrom("nodes").select(["node_id", "applied_seq"]).orderBy("epoch").execute();
	return {
		accounts: await rowsOf("accounts"),
		posts: await rowsOf("posts"),
		movements: await rowsOf("movements"),
		appliedSeq: Object.fromEntries(nodes.map((node) => [node.node_id, Number(node.applied_seq)])),
	};
}

function asText(row: Record<string, unknown>): Record<string, string | null> {
	return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)]));
}
