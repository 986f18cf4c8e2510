/** Writes the chain proxy's part of a batch on SQLite. */
import type { Database, Statement } from "bun:sqlite";
import type { RpcPlan } from "../core/rpc-plan.ts";
import { type AnswerRow, RETAINED_MS } from "../core/rpc-records.ts";

export class RpcRows {
	readonly #sql: ReturnType<typeof prepare>;

	constructor(db: Database) {
		this.#sql = prepare(db);
	}

	write({ forgotten, answers, credits, sends, sendEnds }: RpcPlan): void {
		const sql = this.#sql;
		for (const { accountId, key, fingerprint } of forgotten) sql.forget.run(accountId, key, fingerprint);
		for (const answer of answers) this.#keep(answer);
		for (const { accountId, bucket, credits: used } of credits) sql.credits.run(accountId, bucket, used);
		for (const { requestId, item, accountId, keyId, network, method, rawHash, txHash, atMs } of sends)
			sql.send.run(requestId, item, accountId, keyId, network, method, rawHash, txHash, atMs);
		for (const { requestId, item, outcome, txHash, atMs } of sendEnds) sql.sendEnd.run(outcome, atMs, txHash, requestId, item);
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
