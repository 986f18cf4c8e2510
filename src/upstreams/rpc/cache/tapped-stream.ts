import type { RpcStream } from "../port.ts";

/** Observes the pieces of a stream. */
export interface Tap {
	piece(bytes: Uint8Array): void;
	/** Called once. `isWhole` is false if the stream was broken off or cancelled. */
	end(isWhole: boolean): void;
}

/** Returns the stream with an observer of its pieces. A piece is requested only when the reader asks for one. */
export function tapStream(stream: RpcStream, tap: Tap): RpcStream {
	const reader = stream.value.getReader();
	let isOver = false;
	const end = (isWhole: boolean): void => {
		if (isOver) return;
		isOver = true;
		tap.end(isWhole);
	};
	const value = new ReadableStream<Uint8Array>(
		{
			async pull(controller) {
				try {
					const { done, value: piece } = await reader.read();
					if (done) {
						controller.close();
						end(true);
					} else {
						tap.piece(piece);
						controller.enqueue(piece);
					}
				} catch (error) {
					end(false);
					throw error;
				}
			},
			cancel(reason) {
				end(false);
				return reader.cancel(reason);
			},
		},
		{ highWaterMark: 0 },
	);
	const cancel = (): void => {
		end(false);
		stream.cancel();
	};
	return { kind: stream.kind, value, cancel };
}
