/** The chain proxy's part of a batch. Pure. */
import type { JournalRecord, OutcomeKnownRecord, PostRecord, SendEndRecord, SendRecord } from "../../journal/records.ts";
import { type AnswerRow, answerRow, creditBucket, creditsOf, RETAINED_MS, unknownRow } from "./rpc-records.ts";

/** Credits that an account used in a bucket. */
export interface CreditSum {
	readonly accountId: string;
	readonly bucket: number;
	credits: number;
}

/** A claim of an idempotency key that has ended. */
export interface EndedClaim {
	readonly accountId: string;
	readonly key: string;
	readonly claim: string;
}

/** The stores write it in the order: `forgotten`, `answers`, `endedClaims`, `credits`, `sends`, `sendEnds`. */
export class RpcPlan {
	/** Rows whose outcome is no longer unknown: they are deleted before the answers are written. */
	readonly forgotten: OutcomeKnownRecord[] = [];
	/** Of two answers under one key, both claims. */
	readonly endedClaims: EndedClaim[] = [];
	readonly sends: SendRecord[] = [];
	/** Of several ends of one send the first is final. */
	readonly sendEnds: SendEndRecord[] = [];
	/** Answers by account and key: a statement can write a row only once. */
	readonly #answers = new Map<string, AnswerRow>();
	readonly #credits = new Map<string, CreditSum>();

	get answers(): Iterable<AnswerRow> {
		return this.#answers.values();
	}

	get credits(): Iterable<CreditSum> {
		return this.#credits.values();
	}

	/** Adds what a post contains beside its charge. Throws `RecordFault`. */
	post(post: PostRecord): void {
		if (post.kept !== undefined) this.#keep(answerRow(post.accountId, post.kept), post.kept.claim);
		const credits = creditsOf(post);
		if (credits === 0) return;
		const bucket = creditBucket(post.doneAtMs);
		const accountId = post.callerId ?? post.accountId;
		const id = `${accountId}/${bucket}`;
		const sum = this.#credits.get(id);
		if (sum !== undefined) sum.credits += credits;
		else this.#credits.set(id, { accountId, bucket, credits });
	}

	/** Returns false where the record does not belong to the chain proxy. */
	record(record: JournalRecord): boolean {
		switch (record.t) {
			case "unknown-outcome":
				this.#keep(unknownRow(record), record.ends ? record.claim : null);
				return true;
			case "outcome-known":
				this.#forget(record);
				return true;
			case "send":
				this.sends.push(record);
				return true;
			case "send-end":
				this.sendEnds.push(record);
				return true;
			default:
				return false;
		}
	}

	#forget(record: OutcomeKnownRecord): void {
		this.forgotten.push(record);
		const id = answerId(record.accountId, record.key);
		const row = this.#answers.get(id);
		if (row?.known === 0 && row.fingerprint === record.fingerprint) this.#answers.delete(id);
	}

	/**
	 * Keeps the first answer. An unknown outcome gives way, and so does an answer that had expired when this one was
	 * made.
	 */
	#keep(row: AnswerRow, endedClaim: string | null): void {
		const { account_id: accountId, key } = row;
		if (endedClaim !== null) this.endedClaims.push({ accountId, key, claim: endedClaim });
		const id = answerId(accountId, key);
		const before = this.#answers.get(id);
		if (before?.known !== 1 || before.expires_at <= row.expires_at - RETAINED_MS) this.#answers.set(id, row);
	}
}

function answerId(accountId: string, key: string): string {
	return JSON.stringify([accountId, key]);
}
