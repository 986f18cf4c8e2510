import {
	CLOSE_BRACE,
	CLOSE_BRACKET,
	COMMA,
	JsonValueEnd,
	NotJson,
	nextTurn,
	OPEN_BRACKET,
	skipWhitespace,
} from "../../wire/index.ts";
import { bodyOf, smallBody } from "./body.ts";
import { type Exchange, faultOfResponse, type ItemAnswer, itemHead, nextIds, postBody, refusalOf, sendItem } from "./exchange.ts";
import { brokenAnswer, faultOfConnection, faultOfError, RpcFault } from "./faults.ts";
import { gather } from "./gather.ts";
import type { RpcItem } from "./port.ts";
import { errorOf, nothingAfter, numberOfId, outcomeOf, type ResponseMembers, readResponseMembers } from "./response-members.ts";

/** Bytes of an answer read in one turn of the event loop. */
const STEP_BYTES = 4 << 20;

/** Maximum number of unrequested elements. Some servers answer notifications. */
const MAX_MORE = 100;

/** Number of items sent at once to a server that accepts no arrays. */
const ALONE_AT_ONCE = 8;

/**
 * The outcomes of one array's items by position: an answer, the fault of that item, or null if the item was not
 * answered.
 */
export type ArrayAnswer = (ItemAnswer | RpcFault | null)[];

/** The error of a server that refuses an array of this many items. */
export class BatchRefused extends RpcFault {
	/** The maximum array length that the server reports; null if it reports none. */
	readonly says: number | null;

	constructor(message: string, says: number | null) {
		super("refused", message, { counts: false });
		this.says = says;
	}
}

/** Returns the body of an array: raw params between heads with ids from `first` on. */
function arrayBody(items: readonly RpcItem[], first: number): Uint8Array {
	const heads = items.map(({ method }, index) => itemHead(method.name, first + index));
	let length = 1;
	for (const [index, { params }] of items.entries()) length += Buffer.byteLength(heads[index] ?? "") + params.length + 2;
	const body = Buffer.allocUnsafe(length);
	let at = 0;
	for (const [index, { params }] of items.entries()) {
		body[at++] = index === 0 ? OPEN_BRACKET : COMMA;
		at += body.write(heads[index] ?? "", at);
		body.set(params, at);
		at += params.length;
		body[at++] = CLOSE_BRACE;
	}
	body[at] = CLOSE_BRACKET;
	return body;
}

/**
 * Sends one array of items to one upstream.
 * @throws RpcFault if none of them was answered, BatchRefused if it takes no such array
 */
export async function sendArray(exchange: Exchange, items: readonly RpcItem[]): Promise<ArrayAnswer> {
	const first = nextIds(items.length);
	const response = await postBody(exchange, arrayBody(items, first));
	const { status } = response;
	try {
		if (status === 413) {
			response.body?.cancel().catch(() => {});
			throw new BatchRefused(`status ${status}`, null);
		}
		if (status !== 400 && (status < 200 || status >= 300)) throw await faultOfResponse(response, null);
		const small = smallBody(response);
		return await answersOf(small === null ? await gather(bodyOf(response)) : await small, first, items.length, status);
	} catch (error) {
		if (exchange.signal.aborted) throw error;
		throw faultOfConnection(error);
	}
}

async function answersOf(bytes: Uint8Array, first: number, count: number, status: number): Promise<ArrayAnswer> {
	let at = skipWhitespace(bytes, 0);
	const refusal = refusalOf(bytes, at, status);
	if (refusal !== null) throw refusal;
	if (bytes[at] !== OPEN_BRACKET) throw refusalOfArray(bytes, at);
	const answers: ArrayAnswer = Array.from({ length: count }, () => null);
	let answered = 0;
	let elements = 0;
	at = skipWhitespace(bytes, at + 1);
	let stepEnd = at + STEP_BYTES;
	while (bytes[at] !== CLOSE_BRACKET) {
		if (++elements > count + MAX_MORE) throw brokenAnswer("an array of more answers than were asked for");
		const { envelope, fault, end } = readElement(bytes, at);
		// Unknown ids, and a second answer under the same id, are ignored.
		const place = envelope.id === null ? -1 : numberOfId(envelope.id) - first;
		if (answers[place] === null) {
			answers[place] = fault ?? itemAnswer(bytes, envelope);
			answered++;
		}
		at = skipWhitespace(bytes, end);
		if (at > stepEnd) {
			await nextTurn();
			stepEnd = at + STEP_BYTES;
		}
		if (bytes[at] === COMMA) at = skipWhitespace(bytes, at + 1);
		else if (bytes[at] !== CLOSE_BRACKET) throw brokenAnswer("an answer that is not JSON");
	}
	const after = nothingAfter(bytes, at + 1);
	if (after !== null) throw after;
	if (answered === 0) throw brokenAnswer("an array that answers nothing");
	return answers;
}

interface Element {
	readonly envelope: ResponseMembers;
	/** Why it is no answer; the others may still be answers. */
	readonly fault: RpcFault | null;
	/** The index after it. */
	readonly end: number;
}

/**
 * Reads one element of an array of answers.
 * @throws RpcFault if its end cannot be found
 */
function readElement(bytes: Uint8Array, at: number): Element {
	const envelope: ResponseMembers = { id: null, result: null, error: null };
	try {
		const end = readResponseMembers(bytes, at, envelope);
		if (end !== null && "at" in end) return { envelope, fault: null, end: end.at };
	} catch (fault) {
		if (!(fault instanceof RpcFault)) throw fault;
		return { envelope, fault, end: endOf(bytes, at) };
	}
	throw brokenAnswer("an answer that ends early");
}

function endOf(bytes: Uint8Array, at: number): number {
	try {
		const end = new JsonValueEnd().feed(bytes, at);
		if (end >= 0) return end;
	} catch (error) {
		if (error instanceof NotJson) throw brokenAnswer("an answer that is not JSON");
		throw error;
	}
	throw brokenAnswer("an answer that ends early");
}

function itemAnswer(bytes: Uint8Array, envelope: ResponseMembers): ItemAnswer | RpcFault {
	try {
		const outcome = outcomeOf(bytes, envelope);
		if (outcome.kind === "result" || envelope.error === null) return outcome;
		return faultOfError(outcome, errorOf(bytes, envelope.error).message) ?? outcome;
	} catch (error) {
		if (error instanceof RpcFault) return error;
		throw error;
	}
}

const ABOUT_BATCHES = /batch|array|too many (?:requests|calls) in|request entity|too large|cannot unmarshal/i;
const SAID_MAXIMUM = /(?:max(?:imum)?|limit|exceeds?|up to|more than|at most)\D{0,40}(\d{1,4})/i;

/** Returns the fault of a single object in answer to an array: it concerns arrays, requests a pause, or is broken. */
function refusalOfArray(bytes: Uint8Array, from: number): RpcFault {
	const envelope: ResponseMembers = { id: null, result: null, error: null };
	const end = readResponseMembers(bytes, from, envelope);
	if (end === null || "open" in end) return brokenAnswer("an answer that ends early");
	if (envelope.error === null) return brokenAnswer("one object in answer to an array");
	const { code, message } = errorOf(bytes, envelope.error);
	if (ABOUT_BATCHES.test(message) || code === -32600) {
		const says = SAID_MAXIMUM.exec(message)?.[1];
		return new BatchRefused(`error ${code} in answer to an array`, says === undefined ? null : Number(says));
	}
	const fault = code === null ? null : faultOfError({ kind: "error", value: new Uint8Array(), code }, message);
	return fault?.kind === "busy" ? fault : brokenAnswer(`error ${code} in answer to an array`);
}

/** Sends items one by one to a server that takes no array. Throws the last fault if none was answered. */
export async function sendOneByOne(exchange: Exchange, items: readonly RpcItem[]): Promise<ArrayAnswer> {
	const answers: ArrayAnswer = Array.from({ length: items.length }, () => null);
	const queue = items.entries();
	let answered = 0;
	const work = async (): Promise<void> => {
		for (const [index, item] of queue) {
			try {
				const answer = await sendItem(exchange, item);
				answers[index] = "next" in answer ? await answer.readWhole() : answer;
				answered++;
			} catch (error) {
				if (!(error instanceof RpcFault) || exchange.signal.aborted) throw error;
				answers[index] = error;
			}
		}
	};
	await Promise.all(Array.from({ length: Math.min(ALONE_AT_ONCE, items.length) }, work));
	const last = answers.findLast((answer) => answer instanceof RpcFault);
	if (answered === 0) throw last instanceof RpcFault ? last : brokenAnswer("an array that answers nothing");
	return answers;
}

/** Returns the batch size to assume for a server that refused an array of this many items. */
export function smallerBatch({ says }: BatchRefused, items: number): number {
	return says !== null && says >= 1 && says < items ? says : Math.max(1, Math.floor(items / 2));
}
