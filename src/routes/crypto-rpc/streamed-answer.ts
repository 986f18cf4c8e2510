import type { IdempotencyTicket, PreparedAnswer } from "../../budgets/port.ts";
import { PostedStream } from "../../server/posted-stream.ts";
import { SharedBytes, StreamCopy } from "../../upstreams/rpc/cache/stream-copy.ts";
import type { RpcStream } from "../../upstreams/rpc/port.ts";
import { freeBytes } from "../../wire/index.ts";
import { streamFrame } from "./answers.ts";
import type { RequestBody } from "./request-body.ts";

/** Larger answers are not stored under an idempotency key. */
const MAX_STORED_BYTES = 8 << 20;

export interface StreamedAnswerDeps {
	readonly envelope: RequestBody;
	readonly stream: RpcStream;
	/** Aborts when the caller leaves. */
	readonly signal: AbortSignal;
	readonly ticket: IdempotencyTicket | null;
	/** Posts the charge; resolves when it is durable. */
	post(storedAnswer: PreparedAnswer | null): Promise<void>;
	/** Ends everything that is still open of the request. Called once, last. */
	end(): void;
}

/**
 * Returns the body of a large answer, and a promise that resolves when the answer has ended in any way. The upstream's
 * bytes are sent as they arrive, and the last bytes wait for the post. If the upstream breaks off, the connection is
 * reset and nothing is charged. A caller that leaves is charged, since the answer had begun.
 */
export function streamedAnswer(deps: StreamedAnswerDeps): { readonly body: ReadableStream; readonly ended: Promise<void> } {
	const { stream, signal, ticket, post, end } = deps;
	const copy = ticket === null ? null : new StreamCopy(new SharedBytes(MAX_STORED_BYTES), MAX_STORED_BYTES);
	let isPosted = false;
	const answer = new PostedStream({
		pieces: piecesOf(deps, copy),
		signal,
		async onSourceEnd() {
			const body = copy?.take() ?? null;
			const storedAnswer = ticket === null || body === null ? null : await ticket.prepare({ status: 200, body, note: "" });
			isPosted = true;
			await post(storedAnswer);
		},
		async onCallerLeft() {
			// First: a read that waits for a silent upstream would delay the end.
			stream.cancel();
			if (!isPosted) await post(null);
		},
		onSourceFailed: () => {},
	});
	return { body: answer.readable(), ended: answer.ended.then(end) };
}

async function* piecesOf({ envelope, stream, signal }: StreamedAnswerDeps, copy: StreamCopy | null): AsyncGenerator<Uint8Array> {
	const frame = streamFrame(envelope, stream.kind);
	copy?.add(frame.head);
	yield frame.head;
	const reader = stream.value.getReader();
	try {
		for (let read = await reader.read(); !read.done; read = await reader.read()) {
			copy?.add(read.value);
			yield read.value;
			// Written bytes were copied. If the caller has left, unsent bytes may still be read.
			if (!signal.aborted) freeBytes(read.value);
		}
	} finally {
		stream.cancel();
	}
	copy?.add(frame.tail);
	yield frame.tail;
}
