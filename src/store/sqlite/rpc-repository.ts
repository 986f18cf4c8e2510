/** Idempotency keys and credits, as the store thread reads them on SQLite. */
import type { Database, Statement } from "bun:sqlite";
import type { NodeEpoch } from "../core/batch-applier.ts";
import { liveHour } from "../core/rpc-records.ts";
import type { ClaimRequest, CreditBucket, CreditQuery, IdempotencyBatch, StoredClaim } from "../idempotency.ts";
import type { RunningClaims } from "./running-claims.ts";

interface FoundAnswer {
	readonly fingerprint: string;
	readonly known: number;
	readonly status: number;
	readonly note: string;
	readonly bytes: number;
	readonly crc32: number;
	readonly body: Uint8Array | null;
	readonly file: string | null;
}

export class RpcRepository {
	readonly #nodeId: string;
	readonly #running: RunningClaims | null;
	readonly #sql: ReturnType<typeof prepare>;

	/** @param running the running requests of all workers; null for a single node, which alone knows its own */
	constructor(db: Database, node: NodeEpoch, running: RunningClaims | null) {
		this.#nodeId = node.id;
		this.#running = running;
		this.#sql = prepare(db);
	}

	/** Returns one answer per claim, in their order. The caller must not send two claims of one key in a call. */
	idempotency({ claims, releases, drops, nowMs, maxKeys }: IdempotencyBatch): StoredClaim[] {
		for (const release of releases) this.#running?.release(release);
		for (const { accountId, key } of drops) this.#sql.drop.run(accountId, key);
		return claims.map((claim) => this.#claim(claim, nowMs, maxKeys));
	}

	credits({ accountIds, fromBucket }: CreditQuery): CreditBucket[] {
		return accountIds.flatMap((accountId) =>
			this.#sql.credits.all(accountId, fromBucket).map(({ bucket, credits }) => ({ accountId, bucket, credits })),
		);
	}

	/** A request that is to run holds its key until its answer is applied, or it is released. */
	#claim(claim: ClaimRequest, nowMs: number, maxKeys: number): StoredClaim {
		const stored = this.#look(claim, nowMs, maxKeys);
		if (this.#running === null || stored.kind === "kept" || stored.kind === "reused") return stored;
		const blocker = this.#running.blocker(claim);
		if (blocker !== null) return blocker;
		if (stored.kind !== "full") this.#running.take(this.#nodeId, claim);
		return stored;
	}

	#look({ accountId, key, fingerprint }: ClaimRequest, nowMs: number, maxKeys: number): StoredClaim {
		const row = this.#sql.answer.get(accountId, key, nowMs);
		if (row === null) {
			const live = this.#sql.live.get(accountId, liveHour(nowMs))?.keys ?? 0;
			return { kind: live >= maxKeys ? "full" : "fresh" };
		}
		if (row.fingerprint !== fingerprint) return { kind: "reused" };
		const { known, status, note, bytes, crc32, body, file } = row;
		return known === 1 ? { kind: "kept", status, note, bytes, crc32, body, file } : { kind: "unknown", note };
	}
}

function prepare(db: Database) {
	const sql = <Row>(text: string) => db.prepare(text).safeIntegers(false) as Statement<Row, (string | number)[]>;
	return {
		answer: sql<FoundAnswer>(
			`SELECT fingerprint, known, status, note, bytes, crc32, body, file FROM idempotency_answers
				WHERE account_id = ? AND key = ? AND expires_at > ?`,
		),
		live: sql<{ keys: number | null }>("SELECT sum(keys) AS keys FROM idempotency_counts WHERE account_id = ? AND hour >= ?"),
		drop: sql<never>("DELETE FROM idempotency_answers WHERE account_id = ? AND key = ? AND known = 1"),
		credits: sql<{ bucket: number; credits: number }>(
			"SELECT bucket, credits FROM rpc_credits WHERE account_id = ? AND bucket >= ?",
		),
	};
}
