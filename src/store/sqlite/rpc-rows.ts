/** Writes the chain proxy's records on SQLite. Runs in the transaction of the batch; throws as `Posting` does. */
import type { Database, Statement } from "bun:sqlite";
import type { JournalRecord, PostRecord, SendEndRecord, SendRecord } from "../../journal/records.ts";
import { type AnswerRow, answerRow, creditBucket, creditsOf, RETAINED_MS, unknownRow } from "../core/rpc-records.ts";

export class RpcPosting {
	readonly #sql: ReturnType<typeof prepare>;

	constructor(db: Database) {
		this.#sql = prepare(db);
	}

	/** Writes what a post contains beside its charge. */
	post(post: PostRecord): void {
		if (post.kept !== undefined) this.#keep(answerRow(post.accountId, post.kept));
		const credits = creditsOf(post);
		if (credits > 0) this.#sql.credits.run(post.callerId ?? post.accountId, creditBucket(post.doneAtMs), credits);
	}

	/** Returns false where the record does not belong to the chain proxy. */
	record(record: JournalRecord): boolean {
		switch (record.t) {
			case "unknown-outcome":
				this.#keep(unknownRow(record));
				return true;
			case "outcome-known":
				this.#sql.forget.run(record.accountId, record.key, record.fingerprint);
				return true;
			case "send":
				this.#send(record);
				return true;
			case "send-end":
				this.#sendEnd(record);
				return true;
			default:
				return false;
		}
	}

	#keep(row: AnswerRow): void {
		this.#sql.keep.run(
			row.account_id,
			row.key,
			row.fingerprint,
			row.known,
			row.status,
			row.note,
			row.bytes,
			row.crc32,
			row.body === null ? null : Buffer.from(row.body, "base64"),
			row.file,
			row.expires_at,
		);
	}

	#send({ requestId, item, accountId, keyId, network, method, rawHash, txHash, atMs }: SendRecord): void {
		this.#sql.send.run(requestId, item, accountId, keyId, network, method, rawHash, txHash, atMs);
	}

	#sendEnd({ requestId, item, outcome, txHash, atMs }: SendEndRecord): void {
		this.#sql.sendEnd.run(outcome, atMs, txHash, requestId, item);
	}
}

function prepare(db: Database) {
	const sql = (text: string) => db.prepare(text) as Statement<unknown, (string | number | Uint8Array | null)[]>;
	return {
		// The first answer is final; an unknown outcome gives way, and so does an answer that had expired when this one
		// was made.
		keep: sql(
			`INSERT INTO idempotency_answers (account_id, key, fingerprint, known, status, note, bytes, crc32, body, file, expires_at)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
				ON CONFLICT (account_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, known = excluded.known,
					status = excluded.status, note = excluded.note, bytes = excluded.bytes, crc32 = excluded.crc32,
					body = excluded.body, file = excluded.file, expires_at = excluded.expires_at
				WHERE known = 0 OR expires_at <= excluded.expires_at - ${RETAINED_MS}`,
		),
		forget: sql("DELETE FROM idempotency_answers WHERE account_id = ? AND key = ? AND fingerprint = ? AND known = 0"),
		credits: sql(
			`INSERT INTO rpc_credits (account_id, bucket, credits) VALUES (?, ?, ?)
				ON CONFLICT DO UPDATE SET credits = credits + excluded.credits`,
		),
		send: sql(
			`INSERT INTO rpc_sends (request_id, item, account_id, key_id, network, method, raw_hash, tx_hash, sent_at)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (request_id, item) DO NOTHING`,
		),
		sendEnd: sql(
			`UPDATE rpc_sends SET outcome = ?, ended_at = ?, tx_hash = coalesce(?, tx_hash)
				WHERE request_id = ? AND item = ? AND outcome IS NULL`,
		),
	};
}
