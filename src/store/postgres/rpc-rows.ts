/** Writes the chain proxy's part of a batch on PostgreSQL, with a statement for each table. */
import type { SQL } from "bun";
import type { RpcPlan } from "../core/rpc-plan.ts";
import { RETAINED_MS } from "../core/rpc-records.ts";
import { RELEASE } from "./rpc-repository.ts";

/** Sends the statements in order: one connection answers them in it. */
export function writeRpcRows(tx: SQL, plan: RpcPlan): Promise<unknown>[] {
	const writes: Promise<unknown>[] = [];
	const write = (text: string, rows: readonly object[]): void => {
		if (rows.length > 0) writes.push(tx.unsafe(text, [rows]));
	};
	write(
		FORGET,
		plan.forgotten.map(({ accountId, key, fingerprint }) => ({ account_id: accountId, key, fingerprint })),
	);
	write(KEEP, [...plan.answers]);
	write(
		RELEASE,
		plan.endedClaims.map(({ accountId, ...ended }) => ({ account_id: accountId, ...ended })),
	);
	write(
		COUNT_CREDITS,
		[...plan.credits].map(({ accountId, ...sum }) => ({ account_id: accountId, ...sum })),
	);
	write(
		SEND,
		plan.sends.map(({ requestId, accountId, keyId, rawHash, txHash, item, network, method, atMs }) => ({
			request_id: requestId,
			item,
			account_id: accountId,
			key_id: keyId,
			network,
			method,
			raw_hash: rawHash,
			tx_hash: txHash,
			sent_at: atMs,
		})),
	);
	write(
		END_SENDS,
		plan.sendEnds.map(({ requestId, item, outcome, txHash, atMs }, place) => ({
			request_id: requestId,
			item,
			outcome,
			tx_hash: txHash,
			ended_at: atMs,
			place,
		})),
	);
	return writes;
}

const FORGET = `
	DELETE FROM idempotency_answers WHERE ctid = ANY (ARRAY (
		SELECT answer.place
		FROM jsonb_to_recordset($1::jsonb) AS known (account_id text, key text, fingerprint text),
		LATERAL (
			SELECT ctid AS place, fingerprint, known FROM idempotency_answers
			WHERE account_id = known.account_id AND key = known.key LIMIT 1
		) AS answer
		WHERE answer.fingerprint = known.fingerprint AND answer.known = 0
	))`;

/** As on SQLite. An answer in a file is stored where all of its parts have arrived. */
const KEEP = `
	INSERT INTO idempotency_answers AS old (account_id, key, fingerprint, known, status, note, bytes, crc32, body, file, expires_at)
	SELECT account_id, key, fingerprint, known, status, note, bytes, crc32, decode(body, 'base64'), file, expires_at
	FROM jsonb_to_recordset($1::jsonb) AS kept (account_id text, key text, fingerprint text, known int8, status int8, note text,
		bytes int8, crc32 int8, body text, file text, expires_at int8)
	WHERE file IS NULL OR bytes = (
		SELECT coalesce(sum(octet_length(part.body)), 0) FROM idempotency_bodies AS part WHERE part.file = kept.file
	)
	ORDER BY account_id, key
	ON CONFLICT (account_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, known = excluded.known,
		status = excluded.status, note = excluded.note, bytes = excluded.bytes, crc32 = excluded.crc32, body = excluded.body,
		file = excluded.file, expires_at = excluded.expires_at
	WHERE old.known = 0 OR old.expires_at <= excluded.expires_at - ${RETAINED_MS}`;

const COUNT_CREDITS = `
	INSERT INTO rpc_credits AS counted (account_id, bucket, credits)
	SELECT account_id, bucket, credits FROM jsonb_to_recordset($1::jsonb) AS used (account_id text, bucket int8, credits int8)
	ORDER BY account_id, bucket
	ON CONFLICT (account_id, bucket) DO UPDATE SET credits = counted.credits + excluded.credits`;

const SEND = `
	INSERT INTO rpc_sends (request_id, item, account_id, key_id, network, method, raw_hash, tx_hash, sent_at)
	SELECT request_id, item, account_id, key_id, network, method, raw_hash, tx_hash, sent_at
	FROM jsonb_to_recordset($1::jsonb) AS sent (request_id text, item int8, account_id text, key_id text, network text, method text,
		raw_hash text, tx_hash text, sent_at int8)
	ON CONFLICT (request_id, item) DO NOTHING`;

/** Of several outcomes of a send the first is final. */
const END_SENDS = `
	UPDATE rpc_sends AS sent SET outcome = ended.outcome, ended_at = ended.ended_at, tx_hash = coalesce(ended.tx_hash, sent.tx_hash)
	FROM (
		SELECT DISTINCT ON (found.id) found.id, reported.outcome, reported.tx_hash, reported.ended_at
		FROM jsonb_to_recordset($1::jsonb)
			AS reported (request_id text, item int8, outcome text, tx_hash text, ended_at int8, place int8),
		LATERAL (SELECT id FROM rpc_sends WHERE request_id = reported.request_id AND item = reported.item LIMIT 1) AS found
		ORDER BY found.id, reported.place
	) AS ended
	WHERE sent.id = ended.id AND sent.outcome IS NULL`;
