import type { RpcOutcome, RpcStream } from "../../upstreams/rpc/port.ts";
import { Splice } from "../../wire/index.ts";
import type { RequestBody, RequestItem } from "./request-body.ts";

const HEAD = '{"jsonrpc":"2.0","id":';
const RESULT = ',"result":';
const ERROR = ',"error":';
const END = "}";
/** The error of an item that is missing in the upstream's batch: Internal error (JSON-RPC 2.0, 5.1). */
const MISSING = JSON.stringify({ code: -32603, message: "The upstream gave no answer to this item; ask for it again" });
const MISSING_SEND = JSON.stringify({
	code: -32603,
	message: "Outcome unknown: the upstream gave no answer to this item; send the same bytes again",
});

/** Returns the answer to a single request: its id byte for byte, and the upstream's own bytes of the value. */
export function singleAnswer(envelope: RequestBody, outcome: RpcOutcome): Splice {
	const answer = new Splice(envelope.bytes);
	insertItem(answer, envelope.items[0], outcome, false);
	return answer;
}

/** Returns the bytes before and after the value of a single streamed answer. */
export function streamFrame(
	envelope: RequestBody,
	kind: RpcStream["kind"],
): { readonly head: Uint8Array; readonly tail: Uint8Array } {
	const head = new Splice(envelope.bytes);
	insertHead(head, envelope.items[0], kind === "result-stream" ? RESULT : ERROR);
	return { head: head.bytes(), tail: Buffer.from(END) };
}

/**
 * Returns the answer to a batch: an array in the order of the request, whatever the ids. `outcomes` are by position; a
 * missing one becomes an error of ours, which for a send says that its outcome is unknown.
 */
export function batchAnswer(envelope: RequestBody, outcomes: readonly RpcOutcome[], isSend: (index: number) => boolean): Splice {
	const answer = new Splice(envelope.bytes);
	for (const [index, item] of envelope.items.entries()) {
		answer.insert(index === 0 ? "[" : ",");
		insertItem(answer, item, outcomes[index] ?? { kind: "missing" }, isSend(index));
	}
	answer.insert("]");
	return answer;
}

function insertItem(answer: Splice, item: RequestItem | undefined, outcome: RpcOutcome, send: boolean): void {
	insertHead(answer, item, outcome.kind === "result" ? RESULT : ERROR);
	if (outcome.kind !== "missing") answer.insert(outcome.value);
	else answer.insert(send ? MISSING_SEND : MISSING);
	answer.insert(END);
}

function insertHead(answer: Splice, item: RequestItem | undefined, member: string): void {
	answer.insert(HEAD);
	if (item?.id) answer.keep(item.id.start, item.id.end);
	else answer.insert("null");
	answer.insert(member);
}
