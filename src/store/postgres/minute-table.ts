/** Minute windows in PostgreSQL: the rules of `../core/minute-windows.ts` as statements. */
import type { SQL } from "bun";
import { FORGOTTEN_AFTER_MS, TAKEN_ONE_BY_ONE, UNUSED_PARTS } from "../core/minute-windows.ts";
import { MINUTE_MS, type MinuteAnswer, type MinuteExchange, type MinuteGrant, type MinuteTake } from "../minutes.ts";

interface GrantRow {
	readonly account_id: string;
	readonly subject: string;
	readonly started_at: bigint;
	readonly taken: bigint;
	readonly tokens: bigint;
	readonly granted: bigint;
	readonly ends_in: bigint;
}

/**
 * Adds what nodes counted, then takes the requests they need. Each statement locks its rows in the order of their
 * keys.
 */
export async function exchangeMinutes(sql: SQL, { takes, sums }: MinuteExchange): Promise<MinuteAnswer> {
	// An empty exchange still queries the store, since the caller checks that it is reachable.
	if (takes.length + sums.length === 0) await sql.unsafe("SELECT 1");
	const rows = takes.map(takeRow);
	const sumRows = sums.map((sum) => ({ ...keyOf(sum), started_at: sum.startedAtMs, tokens: sum.tokens }));
	const [added, , granted] = await Promise.all([
		sumRows.length === 0 ? [] : sql.unsafe(ADD_TOKENS, [sumRows]),
		rows.length === 0 ? [] : sql.unsafe(MAKE_ROWS, [rows]),
		rows.length === 0 ? [] : sql.unsafe(TAKE, [rows]),
	]);
	const tokensOf = byKey<{ tokens: bigint } & Key>(added);
	const grantOf = byKey<GrantRow>(granted);
	return {
		sums: sums.map((sum) => {
			const row = tokensOf(sum);
			return row === undefined ? null : Number(row.tokens);
		}),
		takes: takes.map((take) => {
			const row = grantOf(take);
			return row === undefined ? null : toGrant(row);
		}),
	};
}

/** Deletes rows of windows that ended long ago; those that another node locks stay for the next time. */
export async function forgetMinutes(sql: SQL): Promise<void> {
	await sql.unsafe(FORGET);
}

interface Key {
	readonly account_id: string;
	readonly subject: string;
}

const keyOf = ({ accountId, subject }: { accountId: string; subject: string }): Key => ({ account_id: accountId, subject });

function takeRow(take: MinuteTake) {
	return { ...keyOf(take), most: take.limit, wanted: take.requested, spent: take.spent };
}

function byKey<Row extends Key>(rows: Iterable<Row>): (key: { accountId: string; subject: string }) => Row | undefined {
	const rowsByKey = new Map([...rows].map((row) => [JSON.stringify([row.account_id, row.subject]), row]));
	return ({ accountId, subject }) => rowsByKey.get(JSON.stringify([accountId, subject]));
}

function toGrant(row: GrantRow): MinuteGrant {
	return {
		granted: Number(row.granted),
		taken: Number(row.taken),
		tokens: Number(row.tokens),
		startedAtMs: Number(row.started_at),
		endsInMs: Number(row.ends_in),
	};
}

const MAKE_ROWS = `
	INSERT INTO minute_windows (account_id, subject, started_at, taken, tokens)
	SELECT account_id, subject, 0, 0, 0 FROM jsonb_to_recordset($1::jsonb) AS ask (account_id text, subject text)
	ORDER BY account_id, subject
	ON CONFLICT DO NOTHING`;

/** An ended window begins anew. */
const TAKE = `
	WITH live AS (
		SELECT greatest(1, count(*)) AS nodes FROM node_terms WHERE fenced_at IS NULL AND ends_at > clock_timestamp()
	), found AS MATERIALIZED (
		SELECT account_id, subject, w.started_at, w.taken, w.tokens, ask.most, ask.spent,
			(extract(epoch FROM clock_timestamp()) * 1000)::int8 AS now_ms,
			CASE WHEN wanted = 0 OR most <= ${TAKEN_ONE_BY_ONE} THEN wanted
				ELSE greatest(wanted, most / (${UNUSED_PARTS} * (SELECT nodes FROM live))) END AS units
		FROM minute_windows w JOIN jsonb_to_recordset($1::jsonb)
			AS ask (account_id text, subject text, most int8, wanted int8, spent int8) USING (account_id, subject)
		ORDER BY account_id, subject FOR NO KEY UPDATE OF w
	), opened AS (
		SELECT account_id, subject, most, units, spent, now_ms,
			CASE WHEN abs(now_ms - started_at) < ${MINUTE_MS} THEN started_at ELSE now_ms END AS started_at,
			CASE WHEN abs(now_ms - started_at) < ${MINUTE_MS} THEN taken ELSE 0 END AS taken,
			CASE WHEN abs(now_ms - started_at) < ${MINUTE_MS} THEN tokens ELSE 0 END AS tokens
		FROM found
	), granted AS (
		SELECT *, least(units, greatest(0, most - taken - spent)) AS granted FROM opened
	)
	UPDATE minute_windows w SET started_at = g.started_at, tokens = g.tokens, taken = g.taken + g.spent + g.granted
	FROM granted g WHERE w.account_id = g.account_id AND w.subject = g.subject
	RETURNING w.account_id, w.subject, w.started_at, w.taken, w.tokens, g.granted,
		least(${MINUTE_MS}, greatest(0, g.started_at + ${MINUTE_MS} - g.now_ms)) AS ends_in`;

const ADD_TOKENS = `
	WITH found AS MATERIALIZED (
		SELECT account_id, subject, told.tokens
		FROM minute_windows w JOIN jsonb_to_recordset($1::jsonb)
			AS told (account_id text, subject text, started_at int8, tokens int8) USING (account_id, subject, started_at)
		ORDER BY account_id, subject FOR NO KEY UPDATE OF w
	)
	UPDATE minute_windows w SET tokens = greatest(0, w.tokens + found.tokens)
	FROM found WHERE w.account_id = found.account_id AND w.subject = found.subject
	RETURNING w.account_id, w.subject, w.tokens`;

const FORGET = `
	DELETE FROM minute_windows WHERE (account_id, subject) IN (
		SELECT account_id, subject FROM minute_windows
		WHERE started_at < (extract(epoch FROM clock_timestamp()) * 1000)::int8 - ${FORGOTTEN_AFTER_MS}
		LIMIT 10000 FOR UPDATE SKIP LOCKED
	)`;
