import { type JsonValueEnd, NotJson, skipWhitespace } from "../../wire/index.ts";
import type { Body } from "./body.ts";
import { brokenAnswer } from "./faults.ts";
import { gather } from "./gather.ts";
import type { RpcOutcome } from "./port.ts";
import {
	errorOf,
	isNull,
	isOurId,
	nothingAfter,
	type OpenMember,
	type ResponseMembers,
	readResponseMembers,
} from "./response-members.ts";

type Answered = Exclude<RpcOutcome, { kind: "missing" }>;

/** Maximum number of bytes after a value: an id, and members that some servers add. */
export const MAX_TAIL = 64 * 1024;
/** Maximum size of a value. A larger one would be an endless decompression. */
const MAX_VALUE = 2 * 1024 ** 3;

/** An answer whose value continues past the gathered bytes. Only the next piece of it is held. */
export class LargeAnswer {
	readonly kind: "result" | "error";
	readonly #body: Body;
	readonly #id: number;
	readonly #envelope: ResponseMembers = { id: null, result: null, error: null };
	readonly #end: JsonValueEnd;
	#first: Uint8Array | null;
	#length = 0;
	#done = false;

	/**
	 * Returns an answer that begins with these bytes. Returns null if its value ends in them, so that little can follow.
	 * @throws RpcFault if they do not begin an answer
	 */
	static from(first: Uint8Array, body: Body, id: number): LargeAnswer | null {
		const envelope: ResponseMembers = { id: null, result: null, error: null };
		const start = readResponseMembers(first, skipWhitespace(first, 0), envelope);
		if (start !== null && "open" in start) return new LargeAnswer(first, start.open, envelope, body, id);
		if (envelope.result === null && envelope.error === null)
			throw brokenAnswer("an answer with neither result nor error at its beginning");
		return null;
	}

	private constructor(
		first: Uint8Array,
		{ member, valueStart, end }: OpenMember,
		beginning: ResponseMembers,
		body: Body,
		id: number,
	) {
		this.#body = body;
		this.#id = id;
		this.kind = member;
		this.#end = end;
		this.#first = first.subarray(valueStart);
		this.#envelope.id = beginning.id;
		if (beginning.id !== null) this.#checkId();
		const before = member === "result" ? beginning.error : beginning.result;
		if (before !== null && !isNull(first, before)) throw brokenAnswer("an answer with both result and error");
	}

	/**
	 * Returns the next bytes of the value; null after its last. The last bytes are returned once everything after them is
	 * valid.
	 * @throws RpcFault if it is not, and the errors of the connection
	 */
	async next(): Promise<Uint8Array | null> {
		if (this.#done) return null;
		if (this.#first !== null) {
			const first = this.#first;
			this.#first = null;
			this.#length = first.length;
			return first;
		}
		const piece = await this.#body.next();
		if (piece === null) throw brokenAnswer("an answer that ends early");
		const end = this.#feed(piece);
		this.#length += piece.length;
		if (this.#length > MAX_VALUE) throw brokenAnswer("an answer without end");
		if (end < 0) return piece;
		this.#checkTail(await this.#rest(piece.subarray(end)));
		this.#done = true;
		return piece.subarray(0, end);
	}

	/** Returns the whole value at once, within the limits of gathered answers. Throws as `next` does. */
	async readWhole(): Promise<Answered> {
		const value = await gather(this);
		if (this.kind === "result") return { kind: "result", value };
		return { kind: "error", value, code: errorOf(value, { start: 0, end: value.length }).code };
	}

	cancel(): void {
		this.#body.cancel();
	}

	#feed(piece: Uint8Array): number {
		try {
			return this.#end.feed(piece, 0);
		} catch (error) {
			throw error instanceof NotJson ? brokenAnswer("an answer that is not JSON") : error;
		}
	}

	async #rest(beginning: Uint8Array): Promise<Uint8Array> {
		const pieces = [beginning];
		let { length } = beginning;
		for (let piece = await this.#body.next(); piece !== null; piece = await this.#body.next()) {
			pieces.push(piece);
			length += piece.length;
			if (length > MAX_TAIL) throw brokenAnswer("an answer with text after its value");
		}
		return Buffer.concat(pieces, length);
	}

	#checkTail(tail: Uint8Array): void {
		const end = readResponseMembers(tail, 0, this.#envelope, true);
		if (end === null || "open" in end) throw brokenAnswer("an answer that ends early");
		const after = nothingAfter(tail, end.at);
		if (after !== null) throw after;
		this.#checkId();
		const other = this.kind === "result" ? this.#envelope.error : this.#envelope.result;
		if (other !== null && !isNull(tail, other)) throw brokenAnswer("an answer with both result and error");
		if (this.#envelope[this.kind] !== null) throw brokenAnswer(`an answer with two members ${this.kind}`);
	}

	#checkId(): void {
		if (!isOurId(this.#envelope.id, this.#id)) throw brokenAnswer("an answer with another id");
	}
}
