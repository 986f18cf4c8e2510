/**
 * Leases of keys' limits on PostgreSQL. A lease is granted with the key's row locked. It is consumed in the
 * transaction that adds to `usage_daily`, so that a read of both sees each amount once.
 */
import type { SQL } from "bun";
import type { NodeEpoch } from "../core/batch-applier.ts";
import type { CapPlace } from "../core/cap-plan.ts";
import { type CapHeadroom, NO_HEADROOM } from "../core/cap-split.ts";
import { limitNano } from "../core/key-limits.ts";
import type { CapUnit } from "../tables.ts";
import type { ReturnRequest } from "../thread-protocol.ts";
import type { CapAmounts, RetainedCap } from "../types.ts";

/** The amount by which a node's lease grows. */
export interface CapGrant extends CapPlace {
	readonly accountId: string;
	readonly granted: CapAmounts;
}

const placeKey = ({ keyId, day }: CapPlace): string => `${keyId}/${day}`;

/** Limits of these keys; `headroomOf` finds one. */
export type CapHeadrooms = ReadonlyMap<string, CapHeadroom>;

export function headroomOf(headrooms: CapHeadrooms, place: CapPlace): CapHeadroom {
	return headrooms.get(placeKey(place)) ?? NO_HEADROOM;
}

/**
 * Locks the keys in the order of their ids, after all budgets, and reads the rest of their limits.
 * @param more keys that the transaction will write to: all are locked in one order
 */
export async function lockCaps(
	tx: SQL,
	node: NodeEpoch,
	places: readonly CapPlace[],
	more: readonly string[] = [],
): Promise<CapHeadrooms> {
	if (places.length === 0) return new Map();
	const ids = places.map(({ keyId }) => keyId);
	const keys = tx.array(ids, "TEXT");
	const days = tx.array(
		places.map(({ day }) => day),
		"INT8",
	);
	// The second statement runs when the locks are held, so it sees what others leased before.
	const [, rows] = await Promise.all([
		tx.unsafe("SELECT 1 FROM keys WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE", [
			tx.array([...ids, ...more], "TEXT"),
		]),
		tx.unsafe(ROOMS, [node.id, node.epoch, keys, days]),
	]);
	return new Map(
		[...rows].map((row) => [
			placeKey({ keyId: row.key_id, day: Number(row.day) }),
			{
				limit: { usd: limitNano(row.limit_usd), diem: limitNano(row.limit_diem) },
				spent: { usd: Number(row.spent_usd), diem: Number(row.spent_diem) },
				own: { usd: Number(row.own_usd), diem: Number(row.own_diem) },
				elsewhere: { usd: Number(row.other_usd), diem: Number(row.other_diem) },
			},
		]),
	);
}

/** Writes the grants. */
export async function growCaps(tx: SQL, node: NodeEpoch, grants: readonly CapGrant[]): Promise<void> {
	const parts = grants.flatMap(({ accountId, granted, ...place }) =>
		unitsOf(place, granted).map((part) => ({ accountId, ...part })),
	);
	if (parts.length === 0) return;
	const accounts = tx.array(
		parts.map(({ accountId }) => accountId),
		"TEXT",
	);
	await tx.unsafe(GROW, [node.id, node.epoch, accounts, ...partArrays(tx, parts)]);
}

/**
 * Cuts the node's leases on the limits of these accounts' keys down to what is retained; those that the node does not
 * name end.
 */
export async function cutCaps(tx: SQL, node: NodeEpoch, returns: readonly ReturnRequest[]): Promise<void> {
	const capReturns = returns.filter(({ caps }) => caps !== undefined);
	if (capReturns.length === 0) return;
	const accounts = tx.array(
		capReturns.map(({ accountId }) => accountId),
		"TEXT",
	);
	const retained = capReturns.flatMap(({ caps = [] }) => caps.flatMap((cap: RetainedCap) => unitsOf(cap, cap)));
	await tx.unsafe(CUT, [node.id, node.epoch, accounts, ...partArrays(tx, retained)]);
}

interface CapPart extends CapPlace {
	readonly unit: CapUnit;
	readonly amount: number;
}

function unitsOf({ keyId, day }: CapPlace, amounts: CapAmounts): CapPart[] {
	return (["diem", "usd"] as const).flatMap((unit) => (amounts[unit] > 0 ? [{ keyId, day, unit, amount: amounts[unit] }] : []));
}

function partArrays(tx: SQL, parts: readonly CapPart[]): unknown[] {
	const of = (pick: (part: CapPart) => string | number, type: "TEXT" | "INT8") => tx.array(parts.map(pick), type);
	return [
		of(({ keyId }) => keyId, "TEXT"),
		of(({ unit }) => unit, "TEXT"),
		of(({ day }) => day, "INT8"),
		of(({ amount }) => amount, "INT8"),
	];
}

/** A sum may pass 2^53, but no limit does, so the largest amount compares equally. */
const sum = (where: string): string =>
	`least(coalesce(sum(amount) FILTER (WHERE ${where}), 0), ${Number.MAX_SAFE_INTEGER})::int8`;
const OWN = "node_id = $1 AND epoch = $2::int8";
const MONTH = "date_trunc('month', timestamp 'epoch' + wanted.day * interval '1 day')";
const days = (of: string): string => `(extract(epoch FROM ${of}) / 86400)::int8`;

const ROOMS = `SELECT wanted.key_id, wanted.day, keys.limit_usd, keys.limit_diem, spent_usd, spent_diem, own_usd, own_diem, other_usd,
		other_diem
	FROM (SELECT DISTINCT * FROM unnest($3::text[], $4::int8[]) AS asked (key_id, day)) AS wanted
	JOIN keys ON keys.id = wanted.key_id AND keys.revoked_at IS NULL
	CROSS JOIN LATERAL (
		SELECT CASE keys.limit_period WHEN 'EPOCH' THEN wanted.day WHEN 'MONTH' THEN ${days(MONTH)} ELSE 0 END AS first,
			CASE keys.limit_period WHEN 'EPOCH' THEN wanted.day WHEN 'MONTH' THEN ${days(`${MONTH} + interval '1 month'`)} - 1
				ELSE ${Number.MAX_SAFE_INTEGER} END AS last
	) AS period
	CROSS JOIN LATERAL (
		SELECT ${sum("unit IN ('usd', 'bundled')")} AS spent_usd, ${sum("unit = 'diem'")} AS spent_diem
		FROM usage_daily WHERE account_id = keys.account_id AND key_id = keys.id AND day BETWEEN period.first AND period.last
	) AS spent
	CROSS JOIN LATERAL (
		SELECT ${sum(`unit = 'usd' AND ${OWN}`)} AS own_usd, ${sum(`unit = 'diem' AND ${OWN}`)} AS own_diem,
			${sum(`unit = 'usd' AND NOT (${OWN})`)} AS other_usd, ${sum(`unit = 'diem' AND NOT (${OWN})`)} AS other_diem
		FROM cap_leases WHERE key_id = keys.id AND day BETWEEN period.first AND period.last
	) AS leased`;

const PARTS = "unnest($4::text[], $5::text[], $6::int8[], $7::int8[]) AS part (key_id, unit, day, amount)";

const GROW = `INSERT INTO cap_leases (node_id, epoch, account_id, key_id, unit, day, amount)
	SELECT $1, $2::int8, account_id, key_id, unit, day, amount
	FROM unnest($3::text[], $4::text[], $5::text[], $6::int8[], $7::int8[]) AS part (account_id, key_id, unit, day, amount)
	ON CONFLICT (node_id, epoch, account_id, key_id, unit, day) DO UPDATE SET amount = cap_leases.amount + excluded.amount`;

const CUT = `WITH kept AS (SELECT * FROM ${PARTS}), cut AS (
		UPDATE cap_leases SET amount = kept.amount FROM kept
		WHERE ${OWN} AND cap_leases.account_id = ANY($3::text[]) AND cap_leases.key_id = kept.key_id AND cap_leases.unit = kept.unit
			AND cap_leases.day = kept.day AND cap_leases.amount > kept.amount
	)
	DELETE FROM cap_leases WHERE ${OWN} AND account_id = ANY($3::text[]) AND NOT EXISTS (
		SELECT 1 FROM kept WHERE kept.key_id = cap_leases.key_id AND kept.unit = cap_leases.unit AND kept.day = cap_leases.day
	)`;
