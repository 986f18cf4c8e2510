/**
 * Idempotency keys and credits on PostgreSQL. A running request is a row of `idempotency_running`. Its post deletes
 * the row in the transaction that stores its answer; a release, or the end of its node's epoch, deletes it too.
 */
import type { SQL } from "bun";
import type { NodeEpoch } from "../core/batch-applier.ts";
import { liveHour } from "../core/rpc-records.ts";
import { FencedError } from "../core/store-faults.ts";
import type { CreditBucket, CreditQuery, IdempotencyBatch, StoredClaim } from "../idempotency.ts";
import { readBody } from "./body-parts.ts";
import { inTransaction } from "./connect.ts";

/** A retry repeats a claim that a crash of the database lost, so its commit need not wait for a disk. */
const BEGIN = "BEGIN; SET LOCAL synchronous_commit = off";

interface LockedRows {
	readonly account_id: string;
	readonly key: string;
	readonly claim: string;
	readonly asked: string;
	/** The stored answer; all null where there is none. */
	readonly fingerprint: string | null;
	readonly known: bigint | null;
	readonly status: bigint | null;
	readonly note: string | null;
	readonly bytes: bigint | null;
	readonly crc32: bigint | null;
	readonly body: Uint8Array | null;
	readonly file: string | null;
	/** The running claim, and what it names. */
	readonly holder: string | null;
	readonly running: string | null;
	/** Number of the account's keys. */
	readonly live: bigint;
}

export class RpcRepository {
	readonly #node: NodeEpoch;

	constructor(node: NodeEpoch) {
		this.#node = node;
	}

	/**
	 * See `StorePort.idempotency`. May be run again after an error: an existing claim is found again. Throws
	 * `FencedError`.
	 */
	idempotency(sql: SQL, batch: IdempotencyBatch): Promise<StoredClaim[]> {
		return inTransaction(sql, (tx) => this.#runBatch(tx, batch), BEGIN);
	}

	async credits(sql: SQL, { accountIds, fromBucket }: CreditQuery): Promise<CreditBucket[]> {
		const rows = await sql.unsafe(
			"SELECT account_id, bucket, credits FROM rpc_credits WHERE account_id = ANY($1::text[]) AND bucket >= $2",
			[sql.array([...accountIds], "TEXT"), fromBucket],
		);
		return [...rows].map((row) => ({
			accountId: row.account_id,
			bucket: Number(row.bucket),
			credits: Number(row.credits),
		}));
	}

	async #runBatch(tx: SQL, { claims, releases, drops, nowMs, maxKeys }: IdempotencyBatch): Promise<StoredClaim[]> {
		const { id, epoch } = this.#node;
		const claimRows = claims.map(({ accountId, key, fingerprint, claim }) => ({
			account_id: accountId,
			key,
			fingerprint,
			claim,
		}));
		const [alive, , , , looked] = await Promise.all([
			tx.unsafe("SELECT 1 FROM node_terms WHERE node_id = $1 AND epoch = $2 AND fenced_at IS NULL FOR SHARE", [id, epoch]),
			releases.length > 0
				? tx.unsafe(RELEASE, [releases.map(({ accountId, ...rest }) => ({ account_id: accountId, ...rest }))])
				: null,
			drops.length > 0 ? tx.unsafe(DROP, [drops.map(({ accountId, key }) => ({ account_id: accountId, key }))]) : null,
			claimRows.length > 0 ? tx.unsafe(CLAIM, [claimRows, id, epoch, nowMs, liveHour(nowMs), maxKeys]) : null,
			claimRows.length > 0 ? tx.unsafe(LOOK, [claimRows, nowMs, liveHour(nowMs)]) : [],
		]);
		if (alive.length === 0) throw new FencedError();
		const rows = new Map([...looked].map((row: LockedRows) => [row.claim, row]));
		const judged = claims.map(({ claim }) => judgeClaim(rows.get(claim), maxKeys));
		// Another request's answer was applied between the claim's look-up and its insertion: no claim is needed.
		const needlessClaims = claims.filter(({ claim }, at) => rows.get(claim)?.holder === claim && !isToRun(judged[at]));
		if (needlessClaims.length > 0) {
			await tx.unsafe(RELEASE, [needlessClaims.map(({ accountId, key, claim }) => ({ account_id: accountId, key, claim }))]);
		}
		return Promise.all(
			judged.map(async (stored) => {
				if (stored.kind !== "kept" || stored.file === null) return stored;
				return { ...stored, body: await readBody(tx, stored.file), file: null };
			}),
		);
	}
}

function isToRun(stored: StoredClaim | undefined): boolean {
	return stored?.kind === "fresh" || stored?.kind === "unknown";
}

function judgeClaim(row: LockedRows | undefined, maxKeys: number): StoredClaim {
	if (row === undefined) throw new Error("a claim was not looked at");
	if (row.fingerprint !== null) {
		if (row.fingerprint !== row.asked) return { kind: "reused" };
		const note = row.note ?? "";
		if (row.known === 1n) {
			const { body, file } = row;
			return { kind: "kept", status: Number(row.status), note, bytes: Number(row.bytes), crc32: Number(row.crc32), body, file };
		}
		if (row.holder === row.claim) return { kind: "unknown", note };
	}
	if (row.holder === row.claim) return { kind: "fresh" };
	if (row.holder !== null) return { kind: row.running === row.asked ? "running" : "reused" };
	// The other request ended without an answer between the two statements: a retry soon finds the key free.
	return { kind: Number(row.live) >= maxKeys ? "full" : "running" };
}

/** Seeks each row by itself: where a table has grown since it was last analysed, a join would read all of it. */
const ANSWER = (nowMs: string) =>
	`LATERAL (SELECT * FROM idempotency_answers WHERE account_id = asked.account_id AND key = asked.key AND expires_at > ${nowMs}
		LIMIT 1) AS answer`;

const HELD = `LATERAL (SELECT ctid AS place, claim, fingerprint FROM idempotency_running
	WHERE account_id = asked.account_id AND key = asked.key LIMIT 1) AS held`;

/** Ends claims that still hold their keys. */
export const RELEASE = `
	DELETE FROM idempotency_running WHERE ctid = ANY (ARRAY (
		SELECT held.place FROM jsonb_to_recordset($1::jsonb) AS asked (account_id text, key text, claim text), ${HELD}
		WHERE held.claim = asked.claim
	))`;

const DROP = `
	DELETE FROM idempotency_answers AS answer USING jsonb_to_recordset($1::jsonb) AS bad (account_id text, key text)
	WHERE answer.account_id = bad.account_id AND answer.key = bad.key AND answer.known = 1`;

/** An account's keys by hour, so that counting many costs no more. */
const LIVE = (hour: string) =>
	`(SELECT coalesce(sum(keys), 0)::int8 FROM idempotency_counts WHERE account_id = asked.account_id AND hour >= ${hour})`;

const CLAIM = `
	INSERT INTO idempotency_running AS running (account_id, key, fingerprint, claim, node_id, epoch, claimed_at)
	SELECT asked.account_id, asked.key, asked.fingerprint, asked.claim, $2, $3::int8, $4::int8
	FROM jsonb_to_recordset($1::jsonb) AS asked (account_id text, key text, fingerprint text, claim text)
	LEFT JOIN ${ANSWER("$4::int8")} ON true
	WHERE CASE WHEN answer.key IS NULL THEN ${LIVE("$5")} < $6 ELSE answer.known = 0 AND answer.fingerprint = asked.fingerprint END
	ORDER BY asked.account_id, asked.key
	ON CONFLICT (account_id, key) DO UPDATE SET claim = running.claim WHERE running.claim = excluded.claim`;

const LOOK = `
	SELECT asked.account_id, asked.key, asked.claim, asked.fingerprint AS asked, answer.fingerprint, answer.known, answer.status,
		answer.note, answer.bytes, answer.crc32, answer.body, answer.file, held.claim AS holder, held.fingerprint AS running,
		${LIVE("$3")} AS live
	FROM jsonb_to_recordset($1::jsonb) AS asked (account_id text, key text, fingerprint text, claim text)
	LEFT JOIN ${ANSWER("$2::int8")} ON true
	LEFT JOIN ${HELD} ON true`;
