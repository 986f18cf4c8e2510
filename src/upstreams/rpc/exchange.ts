import type { RpcMethod } from "../../catalog/rpc/types.ts";
import { CLOSE_BRACKET, OPEN_BRACKET, skipWhitespace } from "../../wire/index.ts";
import type { Fetch } from "../fetch.ts";
import { type Body, bodyOf, smallBody } from "./body.ts";
import { brokenAnswer, faultOfConnection, faultOfError, faultOfStatus, RpcFault } from "./faults.ts";
import { LargeAnswer, MAX_TAIL } from "./large-answer.ts";
import type { RpcMember } from "./member.ts";
import type { RpcOutcome } from "./port.ts";
import {
	errorOf,
	isOurId,
	isUnreadRequest,
	nothingAfter,
	outcomeOf,
	type ResponseMembers,
	readResponseMembers,
} from "./response-members.ts";

/** Single answers up to this size are gathered. Longer ones are passed on as they arrive. */
export const MAX_GATHERED = 256 * 1024;
/** Maximum number of bytes read of a failed answer. */
const MAX_FAULT_BODY = 64 * 1024;

const LESS_THAN = 0x3c;

export type ItemAnswer = Exclude<RpcOutcome, { kind: "missing" }>;

export interface Exchange {
	readonly fetch: Fetch;
	readonly member: RpcMember;
	readonly requestId: string;
	readonly signal: AbortSignal;
	/** True to use a new connection. A reused one may be closed just as it is used. */
	readonly fresh: boolean;
}

let lastId = 0;

/** Returns the first of `count` ids that no other item of this process has. */
export function nextIds(count: number): number {
	if (lastId > 2 ** 52) lastId = 0;
	const first = lastId + 1;
	lastId += count;
	return first;
}

/** Returns the text of an item up to its params. */
export function itemHead(method: string, id: number): string {
	return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":`;
}

/** The part of an item that is sent upstream. */
export interface SentItem {
	readonly method: Pick<RpcMethod, "name">;
	readonly params: Uint8Array;
}

function itemBody({ method, params }: SentItem, id: number): Uint8Array {
	const head = itemHead(method.name, id);
	const length = Buffer.byteLength(head);
	const body = Buffer.allocUnsafe(length + params.length + 1);
	body.write(head, 0);
	body.set(params, length);
	body[length + params.length] = 0x7d;
	return body;
}

/**
 * Posts a body. Resolves at the headers of the answer, whatever they are.
 * @throws RpcFault if there is no answer
 */
export async function postBody({ fetch, member, requestId, signal, fresh }: Exchange, body: Uint8Array): Promise<Response> {
	const { counts } = member.state;
	const startedAt = performance.now();
	const ended = (outcome: string) => counts.ended(outcome, performance.now() - startedAt);
	try {
		const response = await fetch(member.url, {
			...member.init,
			headers: { ...member.headers, "x-request-id": requestId },
			body: body as Uint8Array<ArrayBuffer>,
			signal,
			keepalive: !fresh,
		});
		ended(mayAnswer(response.status) ? "good" : "refused");
		return response;
	} catch (error) {
		if (signal.aborted) {
			ended("stopped");
			throw error;
		}
		const fault = faultOfConnection(error);
		ended(fault.kind);
		throw fault.kind === "broken" ? new RpcFault("broken", fault.message, { beforeAnswer: true }) : fault;
	}
}

/**
 * Sends one item to one upstream.
 * @throws RpcFault if there is no valid answer, and the signal's abort reason
 */
export async function sendItem(exchange: Exchange, item: SentItem): Promise<ItemAnswer | LargeAnswer> {
	const id = nextIds(1);
	const response = await postBody(exchange, itemBody(item, id));
	try {
		if (!mayAnswer(response.status)) throw await faultOfResponse(response, id);
		const small = smallBody(response);
		if (small !== null) return answerOf(await small, id, response.status);
		return await readAnswer(bodyOf(response), id, response.status);
	} catch (error) {
		if (exchange.signal.aborted) throw error;
		throw faultOfConnection(error);
	}
}

/** Returns true for a status that may come with an answer: some nodes send 400 with a JSON-RPC error. */
function mayAnswer(status: number): boolean {
	return (status >= 200 && status < 300) || status === 400;
}

async function readAnswer(body: Body, id: number, status: number): Promise<ItemAnswer | LargeAnswer> {
	const pieces: Uint8Array[] = [];
	let length = 0;
	let max = MAX_GATHERED;
	try {
		for (let piece = await body.next(); piece !== null; piece = await body.next()) {
			pieces.push(piece);
			length += piece.length;
			if (length <= max) continue;
			if (max > MAX_GATHERED) throw brokenAnswer("an answer with text after its value");
			const big = LargeAnswer.from(joined(pieces, length), body, id);
			if (big !== null) return big;
			max = length + MAX_TAIL;
		}
	} catch (error) {
		body.cancel();
		throw error;
	}
	return answerOf(joined(pieces, length), id, status);
}

export function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
	return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces, length);
}

/**
 * Reads the answer of a whole body.
 * @throws RpcFault if it is no answer to the request with this id
 */
export function answerOf(bytes: Uint8Array, id: number, status: number): ItemAnswer {
	const from = skipWhitespace(bytes, 0);
	const refusal = refusalOf(bytes, from, status);
	if (refusal !== null) throw refusal;
	// Some gateways answer one request as a batch of one.
	const isArray = bytes[from] === OPEN_BRACKET;
	const envelope: ResponseMembers = { id: null, result: null, error: null };
	const end = readResponseMembers(bytes, isArray ? skipWhitespace(bytes, from + 1) : from, envelope);
	if (end === null || "open" in end) throw brokenAnswer("an answer that ends early");
	const close = skipWhitespace(bytes, end.at);
	if (isArray && bytes[close] !== CLOSE_BRACKET) throw brokenAnswer("an array of several in answer to one request");
	const after = nothingAfter(bytes, isArray ? close + 1 : end.at);
	if (after !== null) throw after;
	const outcome = outcomeOf(bytes, envelope);
	if (outcome.kind === "error") {
		// A pause is often requested without reading the request.
		const fault = faultOfError(outcome, messageOf(bytes, envelope));
		if (fault !== null) throw fault;
	}
	if (!isOurId(envelope.id, id) && !isUnreadRequest(envelope, outcome)) throw brokenAnswer("an answer with another id");
	if (status === 400 && outcome.kind === "result") throw faultOfStatus(status);
	return outcome;
}

function messageOf(bytes: Uint8Array, { error }: ResponseMembers): string {
	return error === null ? "" : errorOf(bytes, error).message;
}

/** Returns the fault of a body that is not JSON; null if it may be an answer. */
export function refusalOf(bytes: Uint8Array, from: number, status: number): RpcFault | null {
	if (from >= bytes.length) return status === 400 ? faultOfStatus(status) : brokenAnswer("an empty answer");
	if (bytes[from] === LESS_THAN) return status === 400 ? faultOfStatus(status) : brokenAnswer("a page in place of an answer");
	return null;
}

/**
 * Returns the fault of a status. Some nodes send a JSON-RPC error with a 5xx or 4xx. It becomes the answer if no other
 * upstream has one. It is no fault of the node, which works.
 */
export async function faultOfResponse(response: Response, id: number | null): Promise<RpcFault> {
	const { status } = response;
	const fault = faultOfStatus(status, response.headers);
	const body = bodyOf(response);
	if (fault.kind === "busy" || id === null) {
		body.cancel();
		return fault;
	}
	try {
		const bytes = await upTo(body, MAX_FAULT_BODY);
		const answer = bytes === null ? null : answerOf(bytes, id, 200);
		if (answer?.kind === "error")
			return new RpcFault(fault.kind, fault.message, { fallback: answer, counts: answer.code === -32603 });
	} catch (error) {
		if (error instanceof RpcFault && (error.kind === "busy" || error.kind === "unsupported")) return error;
	}
	return fault;
}

/** Reads a body of at most `max` bytes; returns null for a longer one. */
async function upTo(body: Body, max: number): Promise<Uint8Array | null> {
	const pieces: Uint8Array[] = [];
	let length = 0;
	for (let piece = await body.next(); piece !== null; piece = await body.next()) {
		pieces.push(piece);
		length += piece.length;
		if (length > max) {
			body.cancel();
			return null;
		}
	}
	return joined(pieces, length);
}
