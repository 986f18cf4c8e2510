/** Decides which waiting calls share one round trip to the store: lease calls, each on another account. */
import type { ReadGroup } from "../../journal/index.ts";
import type { JournalRecord } from "../../journal/records.ts";
import type { StoreCall, WorkMessage } from "../thread-protocol.ts";
import type { LeaseRequest } from "./store.ts";

/** A lease call of the event loop; its answer includes the account's posts up to exactly `seq`. */
export interface LeaseCall {
	readonly type: "call";
	readonly id: number;
	readonly seq: number;
	readonly call: LeaseRequest;
}

type Waiting = WorkMessage | { readonly type: "catch-up" };

/** Few enough that others wait only briefly for the transaction's locks. */
const MOST_CALLS = 256;

export function isLeaseRequest(call: StoreCall): call is LeaseRequest & StoreCall {
	return call.name === "acquire" || call.name === "giveBack";
}

export function isLeaseCall(message: Waiting): message is LeaseCall & Waiting {
	return message.type === "call" && isLeaseRequest(message.call);
}

/**
 * Returns `first` and the following calls that may join it. Only messages that apply the journal are skipped, since
 * the calls do this themselves.
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
 * Returns the sequence up to which the journal can be shipped before `calls` (in order of their sequences) are
 * answered together: the highest of a call, up to which no account of an earlier call has a post from after its call.
 * @param groups the groups not shipped yet; up to the last call's sequence, or else the later calls wait for another
 * round trip
 */
export function seqForAll(calls: readonly LeaseCall[], groups: readonly ReadGroup[]): number {
	const callSeqByAccount = new Map(calls.map(({ seq, call }) => [call.arguments.accountId, seq]));
	const first = calls[0]?.seq ?? 0;
	let end = calls.at(-1)?.seq ?? 0;
	for (const { seq, records } of groups) {
		if (seq <= first) continue;
		if (seq > end) break;
		if (records.some((text) => (callSeqByAccount.get(accountOf(text) ?? "") ?? seq) < seq)) {
			end = seq - 1;
			break;
		}
	}
	return calls.reduce((highest, { seq }) => (seq <= end ? Math.max(highest, seq) : highest), first);
}

/** Returns null where the record is of no account, or cannot be read: then no answer depends on it. */
function accountOf(text: string): string | null {
	try {
		const record = JSON.parse(text) as JournalRecord | null;
		return record?.t === "post" ? record.accountId : null;
	} catch {
		return null;
	}
}
