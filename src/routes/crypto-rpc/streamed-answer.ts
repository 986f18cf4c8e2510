import type { IdempotencyTicket, PreparedAnswer } from "../../budgets/port.ts";
import { PostedStream } from "../../server/posted-stream.ts";
import type { RpcStream } from "../../upstreams/rpc/port.ts";
import { freeBytes } from "../../wire/index.ts";
import { streamFrame } from "./answers.ts";
import type { RequestBody } from "./request-body.ts";

/** Larger answers are not kept under an idempotency key. */
const MAX_KEPT_BYTES = 8 << 20;

export interface StreamedAnswerDeps {
	readonly envelope: RequestBody;
	readonly stream: RpcStream;
	/** Aborts when the caller leaves. */
	readonly signal: AbortSignal;
	readonly ticket: IdempotencyTicket | null;
	/** Posts the charge; resolves when it is durable. */
	post(kept: PreparedAnswer | null): Promise<void>;
	/** Ends everything that is still open of the request. Called once, last. */
	end(): void;
}

/**
 * Returns the body of a large answer, and a promise that resolves when the answer has ended in any way. The upstream's
 * bytes go out as they arrive, and the last bytes wait for the post. Where the upstream breaks off, the connection is
 * reset and nothing is charged. A caller who leaves pays: the answer had begun.
 */
export function streamedAnswer(deps: StreamedAnswerDeps): { readonly body: ReadableStream; readonly ended: Promise<void> } {
	const { stream, signal, ticket, post, end } = deps;
	const copy = ticket === null ? null : new BoundedCopy(MAX_KEPT_BYTES);
	let isPosted = false;
	const answer = new PostedStream({
		pieces: piecesOf(deps, copy),
		signal,
		async finish() {
			const body = copy?.whole() ?? null;
			const kept = ticket === null || body === null ? null : await ticket.prepare({ status: 200, body, note: "" });
			isPosted = true;
			await post(kept);
		},
		async onCallerLeft() {
			if (!isPosted) await post(null);
		},
		broke: () => {},
	});
	const ended = answer.ended.then(() => {
		// The pieces may never have been read: their own end does not run then.
		stream.cancel();
		end();
	});
	return { body: answer.readable(), ended };
}

async function* piecesOf({ envelope, stream, signal }: StreamedAnswerDeps, copy: BoundedCopy | null): AsyncGenerator<Uint8Array> {
	const frame = streamFrame(envelope, stream.kind);
	copy?.add(frame.head);
	yield frame.head;
	const reader = stream.value.getReader();
	try {
		for (let read = await reader.read(); !read.done; read = await reader.read()) {
			copy?.add(read.value);
			yield read.value;
			// Written bytes were copied. Bytes that a caller who has left did not take may still be read.
			if (!signal.aborted) freeBytes(read.value);
		}
	} finally {
		stream.cancel();
	}
	copy?.add(frame.tail);
	yield frame.tail;
}

/** A copy of the pieces of an answer, given up where they pass a bound. */
class BoundedCopy {
	readonly #maxBytes: number;
	#pieces: Uint8Array[] | null = [];
	#length = 0;

	constructor(maxBytes: number) {
		this.#maxBytes = maxBytes;
	}

	add(piece: Uint8Array): void {
		if (this.#pieces === null) return;
		this.#length += piece.length;
		if (this.#length > this.#maxBytes) this.#pieces = null;
		// The slice of a Buffer would be no copy.
		else this.#pieces.push(new Uint8Array(piece));
	}

	/** Returns all bytes; null where they passed the bound. */
	whole(): Uint8Array | null {
		return this.#pieces === null ? null : Buffer.concat(this.#pieces);
	}
}
