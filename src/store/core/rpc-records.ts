/** The rows of the chain proxy's records, for any store. Pure. */
import type { PostRecord, StoredAnswerPart, UnknownOutcomeRecord } from "../../journal/records.ts";
import { nano } from "../../ledger/nano.ts";
import { RecordFault } from "./record-fault.ts";

/** The endpoint's name in posts: units of its lines are credits. */
const RPC_ROUTE = "crypto-rpc";
/** Bucket size in which credits of a rolling day are counted. */
export const CREDIT_BUCKET_MS = 300_000;
/** How long an answer is stored under its idempotency key. */
export const RETAINED_MS = 86_400_000;
const HOUR_MS = 3_600_000;

export function creditBucket(atMs: number): number {
	return Math.floor(atMs / CREDIT_BUCKET_MS);
}

/**
 * Returns the first hour of `idempotency_counts` with unexpired keys: the count may include up to an hour of expired
 * ones.
 */
export function liveHour(nowMs: number): number {
	return Math.floor(nowMs / HOUR_MS);
}

/** Returns the credits that a post used; 0 for other routes. */
export function creditsOf(post: PostRecord): number {
	if (post.route !== RPC_ROUTE) return 0;
	return post.lines.reduce((sum, line) => nano(sum + nano(line.units)), 0);
}

/** A row of `idempotency_answers`, with the body still as base64. */
export interface AnswerRow {
	readonly account_id: string;
	readonly key: string;
	readonly fingerprint: string;
	readonly known: 0 | 1;
	readonly status: number;
	readonly note: string;
	readonly bytes: number;
	readonly crc32: number;
	readonly body: string | null;
	readonly file: string | null;
	readonly expires_at: number;
}

/**
 * Returns the row of an answer. `payer` is the account of the post. Throws `RecordFault` where neither a body nor a
 * file's name is present.
 */
export function answerRow(payer: string, kept: StoredAnswerPart): AnswerRow {
	if ((kept.body === null) === (kept.file === null)) throw new RecordFault("an answer without a body");
	const { accountId = payer, key, fingerprint, status, note, bytes, crc32, body, file, expiresAtMs } = kept;
	return { account_id: accountId, key, fingerprint, known: 1, status, note, bytes, crc32, body, file, expires_at: expiresAtMs };
}

export function unknownRow(record: UnknownOutcomeRecord): AnswerRow {
	const { accountId, key, fingerprint, note, expiresAtMs } = record;
	const nothing = { known: 0, status: 0, bytes: 0, crc32: 0, body: null, file: null } as const;
	return { account_id: accountId, key, fingerprint, note, ...nothing, expires_at: expiresAtMs };
}
