/**
 * Boots of nodes in the store: ids, epochs, terms. A node's leases live until its term ends by the database's clock.
 * Heartbeats renew the term. Any other node reaps a node that is past its term for a while: it fences the epoch and
 * frees its leases, in one transaction.
 */
import type { SQL } from "bun";
import type { Heartbeat, StoredEpoch } from "../core/store.ts";
import { FencedError } from "../core/store-faults.ts";
import { inTransaction } from "./connect.ts";

/** Returns the node's latest boot; epoch 0, which never existed, where the store does not know the node. */
export async function latestEpoch(sql: SQL, nodeId: string): Promise<StoredEpoch> {
	const [row] = await sql.unsafe("SELECT epoch, applied_seq FROM nodes WHERE node_id = $1 ORDER BY epoch DESC LIMIT 1", [nodeId]);
	return { id: nodeId, epoch: Number(row?.epoch ?? 0), appliedSeq: Number(row?.applied_seq ?? 0) };
}

/** Returns how far the store has this boot. Where a failover lost the boot itself, it is written again. */
export async function isKnownEpoch(sql: SQL, boot: StoredEpoch): Promise<number> {
	const [row] = await sql.unsafe("SELECT applied_seq FROM nodes WHERE node_id = $1 AND epoch = $2", [boot.id, boot.epoch]);
	if (row !== undefined) return Number(row.applied_seq);
	const { appliedSeq } = await latestEpoch(sql, boot.id);
	await sql.unsafe(
		`INSERT INTO nodes (node_id, epoch, first_seq, applied_seq, started_at)
			VALUES ($1, $2, $3::int8 + 1, $3, ${NOW_MS})`,
		[boot.id, boot.epoch, appliedSeq],
	);
	return appliedSeq;
}

/**
 * Begins the next boot after `before`: fences every earlier one of the node (a copy of its folder may run elsewhere),
 * frees their leases, and starts a term.
 */
export function startEpoch(sql: SQL, before: StoredEpoch, termMs: number): Promise<StoredEpoch> {
	return inTransaction(sql, async (tx) => {
		const { id, appliedSeq } = before;
		await tx.unsafe("SELECT epoch FROM nodes WHERE node_id = $1 ORDER BY epoch FOR NO KEY UPDATE", [id]);
		await endLeases(tx, id, null);
		const [row] = await tx.unsafe(
			`INSERT INTO nodes (node_id, epoch, first_seq, applied_seq, started_at)
				SELECT $1, coalesce(max(epoch), 0) + 1, $2::int8 + 1, $2::int8, ${NOW_MS} FROM nodes WHERE node_id = $1 RETURNING epoch`,
			[id, appliedSeq],
		);
		const epoch = Number(row.epoch);
		await tx.unsafe(`INSERT INTO node_terms (node_id, epoch, ends_at) VALUES ($1, $2, ${TERM})`, [id, epoch, termMs]);
		return { id, epoch, appliedSeq };
	});
}

/** Renews the term. Throws `FencedError`. */
export async function heartbeat(
	sql: SQL,
	node: { readonly id: string; readonly epoch: number },
	termMs: number,
): Promise<Heartbeat> {
	const rows = await sql.unsafe(
		`UPDATE node_terms SET ends_at = ${TERM} WHERE node_id = $1 AND epoch = $2 AND fenced_at IS NULL RETURNING 1`,
		[node.id, node.epoch, termMs],
	);
	if (rows.length === 0) throw new FencedError();
	const [{ live, applied }] = await sql.unsafe(
		`SELECT (SELECT count(*) FROM node_terms WHERE fenced_at IS NULL AND ends_at > clock_timestamp()) AS live,
			(SELECT applied_seq FROM nodes WHERE node_id = $1 AND epoch = $2) AS applied`,
		[node.id, node.epoch],
	);
	return { live: Math.max(1, Number(live)), appliedSeq: Number(applied) };
}

/** Fences the boots whose term ended `afterMs` ago and frees their leases. Returns their number. */
export async function reap(sql: SQL, afterMs: number): Promise<number> {
	const late = `fenced_at IS NULL AND ends_at < clock_timestamp() - $1::int8 * interval '1 millisecond'`;
	const dead = await sql.unsafe(`SELECT node_id, epoch FROM node_terms WHERE ${late} ORDER BY node_id, epoch`, [afterMs]);
	let reaped = 0;
	for (const { node_id: id, epoch } of dead) {
		await inTransaction(sql, async (tx) => {
			await tx.unsafe("SELECT 1 FROM nodes WHERE node_id = $1 AND epoch = $2 FOR NO KEY UPDATE", [id, epoch]);
			const [still] = await tx.unsafe(`SELECT 1 FROM node_terms WHERE ${late} AND node_id = $2 AND epoch = $3`, [
				afterMs,
				id,
				epoch,
			]);
			if (still === undefined) return;
			await endLeases(tx, id, Number(epoch));
			reaped++;
		});
	}
	return reaped;
}

/** Ends this boot: frees its leases and ends its term. */
export function endEpoch(sql: SQL, node: { readonly id: string; readonly epoch: number }): Promise<void> {
	return inTransaction(sql, async (tx) => {
		await tx.unsafe("SELECT 1 FROM nodes WHERE node_id = $1 AND epoch = $2 FOR NO KEY UPDATE", [node.id, node.epoch]);
		await endLeases(tx, node.id, node.epoch);
	});
}

/**
 * Fences one boot of a node, or all (`epoch` null), and frees their leases and the idempotency keys of their running
 * requests. The caller has locked their rows of `nodes`; budgets are locked in the order of their keys.
 */
async function endLeases(tx: SQL, nodeId: string, epoch: number | null): Promise<void> {
	const ofBoot = "node_id = $1 AND ($2::int8 IS NULL OR epoch = $2)";
	await tx.unsafe(`UPDATE node_terms SET fenced_at = clock_timestamp() WHERE ${ofBoot} AND fenced_at IS NULL`, [nodeId, epoch]);
	await tx.unsafe(`DELETE FROM idempotency_running WHERE ${ofBoot}`, [nodeId, epoch]);
	await tx.unsafe(`DELETE FROM cap_leases WHERE ${ofBoot}`, [nodeId, epoch]);
	await tx.unsafe(
		`SELECT 1 FROM budgets WHERE (account_id, source, day) IN (SELECT account_id, source, day FROM leases WHERE ${ofBoot})
			ORDER BY account_id, source, day FOR NO KEY UPDATE`,
		[nodeId, epoch],
	);
	await tx.unsafe(
		`WITH gone AS (
			DELETE FROM leases WHERE ${ofBoot} RETURNING account_id, source, day, amount
		), held AS (
			SELECT account_id, source, day, sum(amount)::int8 AS amount FROM gone GROUP BY account_id, source, day
		)
		UPDATE budgets SET leased = leased - held.amount FROM held
		WHERE budgets.account_id = held.account_id AND budgets.source = held.source AND budgets.day = held.day`,
		[nodeId, epoch],
	);
}

const NOW_MS = "(extract(epoch FROM clock_timestamp()) * 1000)::int8";
const TERM = "clock_timestamp() + $3::int8 * interval '1 millisecond'";
