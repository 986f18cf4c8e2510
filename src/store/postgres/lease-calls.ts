/** Which of the calls that wait can be answered in one trip to the store: questions about leases, each of another account. */
import type { ReadGroup } from "../../journal/index.ts";
import type { JournalRecord } from "../../journal/records.ts";
import type { AtWork, StoreCall } from "../thread-protocol.ts";
import type { LeaseRequest } from "./shared-store.ts";

/** A question of the event loop; its answer holds the account's posts up to exactly `seq`. */
export interface LeaseCall {
	readonly type: "call";
	readonly id: number;
	readonly seq: number;
	readonly call: LeaseRequest;
}

type Waiting = AtWork | { readonly type: "catch-up" };

/** A transaction that is short for those who wait for its locks. */
const MOST_CALLS = 256;

export function isLeaseRequest(call: StoreCall): call is LeaseRequest & StoreCall {
	return call.name === "acquire" || call.name === "giveBack";
}

export function isLeaseCall(message: Waiting): message is LeaseCall & Waiting {
	return message.type === "call" && isLeaseRequest(message.call);
}

/**
 * `first`, and the calls behind it that may go with it. Nothing but the applying of the journal is passed by, which
 * they bring about themselves.
 */
export function callsWith(first: LeaseCall, waiting: readonly Waiting[]): LeaseCall[] {
	const accounts = new Set([first.call.arguments.accountId]);
	const calls = [first];
	for (const message of waiting) {
		if (message.type === "apply") continue;
		if (!isLeaseCall(message) || accounts.has(message.call.arguments.accountId) || calls.length === MOST_CALLS) break;
		accounts.add(message.call.arguments.accountId);
		calls.push(message);
	}
	return calls;
}

/**
 * The sequence up to which the journal can be shipped before `calls` (in order of their sequences) are answered together:
 * the highest of a call, up to which no account of an earlier one has a post of after its call.
 * @param groups what is not shipped yet; all of it up to the last call's sequence, or the calls behind it go another time
 */
export function seqForAll(calls: readonly LeaseCall[], groups: readonly ReadGroup[]): number {
	const askedAt = new Map(calls.map(({ seq, call }) => [call.arguments.accountId, seq]));
	const first = calls[0]?.seq ?? 0;
	let end = calls.at(-1)?.seq ?? 0;
	for (const { seq, records } of groups) {
		if (seq <= first) continue;
		if (seq > end) break;
		if (records.some((text) => (askedAt.get(accountOf(text) ?? "") ?? seq) < seq)) {
			end = seq - 1;
			break;
		}
	}
	return calls.reduce((highest, { seq }) => (seq <= end ? Math.max(highest, seq) : highest), first);
}

/** null where the record is of no account, or cannot be read: then no answer depends on it. */
function accountOf(text: string): string | null {
	try {
		const record = JSON.parse(text) as JournalRecord | null;
		return record?.t === "post" ? record.accountId : null;
	} catch {
		return null;
	}
}
