/** The rows of the chain proxy's part of a batch, with a statement for each table. */
import type { SQL } from "bun";
import type { JournalRecord, OutcomeKnownRecord, PostRecord } from "../../journal/records.ts";
import { RELEASE } from "../postgres/rpc-repository.ts";
import { type AnswerRow, answerRow, creditBucket, creditsOf, RETAINED_MS, unknownRow } from "./rpc-records.ts";

/** `claim` is the one that ends with it. */
type AnswerOfClaim = AnswerRow & { readonly claim: string | null };
type Row = Readonly<Record<string, string | number | null>>;

export class RpcPlan {
	/** Answers by account and key: a statement can write a row only once. */
	readonly #answers = new Map<string, AnswerOfClaim>();
	/** Rows whose outcome is no longer unknown: they are deleted before the answers are written. */
	readonly #forgotten: Row[] = [];
	/** Ended claims; of two answers under one key, both claims. */
	readonly #ended: Row[] = [];
	/** Credits by account and bucket. */
	readonly #credits = new Map<string, { account_id: string; bucket: number; credits: number }>();
	readonly #sends: Row[] = [];
	readonly #ends: Row[] = [];

	/** Adds what a post contains beside its charge. Throws `RecordFault`. */
	post(post: PostRecord): void {
		if (post.kept !== undefined) this.#keep({ ...answerRow(post.accountId, post.kept), claim: post.kept.claim });
		const credits = creditsOf(post);
		if (credits === 0) return;
		const bucket = creditBucket(post.doneAtMs);
		const accountId = post.callerId ?? post.accountId;
		const id = JSON.stringify([accountId, bucket]);
		const sum = this.#credits.get(id) ?? { account_id: accountId, bucket, credits: 0 };
		sum.credits += credits;
		this.#credits.set(id, sum);
	}

	/** Returns false where the record does not belong to the chain proxy. */
	record(record: JournalRecord): boolean {
		switch (record.t) {
			case "unknown-outcome":
				this.#keep({ ...unknownRow(record), claim: record.ends ? record.claim : null });
				return true;
			case "outcome-known":
				this.#forget(record);
				return true;
			case "send": {
				const { requestId, accountId, keyId, rawHash, txHash, item, network, method, atMs } = record;
				const ids = { request_id: requestId, item, account_id: accountId, key_id: keyId };
				this.#sends.push({ ...ids, network, method, raw_hash: rawHash, tx_hash: txHash, sent_at: atMs });
				return true;
			}
			case "send-end": {
				const { requestId, item, outcome, txHash, atMs } = record;
				this.#ends.push({ request_id: requestId, item, outcome, tx_hash: txHash, ended_at: atMs, place: this.#ends.length });
				return true;
			}
			default:
				return false;
		}
	}

	/** Sends the statements in order: one connection answers them in it. */
	write(tx: SQL): Promise<unknown>[] {
		const writes: Promise<unknown>[] = [];
		if (this.#forgotten.length > 0) writes.push(tx.unsafe(FORGET, [this.#forgotten]));
		if (this.#answers.size > 0) writes.push(tx.unsafe(KEEP, [[...this.#answers.values()]]));
		if (this.#ended.length > 0) writes.push(tx.unsafe(RELEASE, [this.#ended]));
		if (this.#credits.size > 0) writes.push(tx.unsafe(COUNT_CREDITS, [[...this.#credits.values()]]));
		if (this.#sends.length > 0) writes.push(tx.unsafe(SEND, [this.#sends]));
		if (this.#ends.length > 0) writes.push(tx.unsafe(END_SENDS, [this.#ends]));
		return writes;
	}

	#forget({ accountId, key, fingerprint }: OutcomeKnownRecord): void {
		this.#forgotten.push({ account_id: accountId, key, fingerprint });
		const id = JSON.stringify([accountId, key]);
		const row = this.#answers.get(id);
		if (row?.known === 0 && row.fingerprint === fingerprint) this.#answers.delete(id);
	}

	/** Keeps the first answer; an unknown outcome gives way. */
	#keep(row: AnswerOfClaim): void {
		if (row.claim !== null) this.#ended.push({ account_id: row.account_id, key: row.key, claim: row.claim });
		const id = JSON.stringify([row.account_id, row.key]);
		if (this.#answers.get(id)?.known !== 1) this.#answers.set(id, row);
	}
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
		SELECT DISTINCT ON (found.id) found.id, told.outcome, told.tx_hash, told.ended_at
		FROM jsonb_to_recordset($1::jsonb)
			AS told (request_id text, item int8, outcome text, tx_hash text, ended_at int8, place int8),
		LATERAL (SELECT id FROM rpc_sends WHERE request_id = told.request_id AND item = told.item LIMIT 1) AS found
		ORDER BY found.id, told.place
	) AS ended
	WHERE sent.id = ended.id AND sent.outcome IS NULL`;
