import { RpcCallError, type RpcStream } from "../port.ts";
import type { SharedBytes } from "./stream-copy.ts";

/** Maximum size of an answer that is read whole for all callers that wait for it. */
const MAX_SHARED_BYTES = 8 * 1024 * 1024;

/**
 * Returns the whole value for several callers, if it is small enough and the budget has memory left. Otherwise returns
 * a stream of all of it, including what was read already.
 * @throws the signal's reason if it aborts meanwhile, and RPC_UPSTREAM_FAILED if the upstream breaks off
 */
export async function gatherShared(stream: RpcStream, budget: SharedBytes, signal: AbortSignal): Promise<Uint8Array | RpcStream> {
	const reader = stream.value.getReader();
	const stop = () => void reader.cancel(signal.reason).catch(() => {});
	signal.addEventListener("abort", stop, { once: true });
	const pieces: Uint8Array[] = [];
	let length = 0;
	try {
		for (;;) {
			const { done, value } = await reader.read();
			signal.throwIfAborted();
			if (done) return Buffer.concat(pieces, length);
			pieces.push(value);
			if (length + value.length > MAX_SHARED_BYTES || !budget.take(value.length))
				return goingOn(stream, pieces, async () => (await reader.read()).value);
			length += value.length;
		}
	} catch (cause) {
		stream.cancel();
		signal.throwIfAborted();
		throw new RpcCallError("RPC_UPSTREAM_FAILED", { cause });
	} finally {
		budget.release(length);
		signal.removeEventListener("abort", stop);
	}
}

function goingOn(stream: RpcStream, pieces: Uint8Array[], next: () => Promise<Uint8Array | undefined>): RpcStream {
	const value = new ReadableStream<Uint8Array>(
		{
			async pull(controller) {
				const piece = pieces.shift() ?? (await next());
				if (piece === undefined) controller.close();
				else controller.enqueue(piece);
			},
			cancel: () => stream.cancel(),
		},
		{ highWaterMark: 0 },
	);
	return { kind: stream.kind, value, cancel: () => stream.cancel() };
}
