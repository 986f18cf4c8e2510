/**
 * Large bytes of a job on their way to a child: through its standard input. The IPC channel takes a message whole, and with
 * it one turn of the event loop; a pipe takes slices, each when the child has read the one before.
 */
import type { FileSink } from "bun";

/** Fewer bytes stay in the message. */
const LARGE_BYTES = 262_144;
const SLICE_BYTES = 262_144;

/** Where bytes stand in a job: a field, or a place in a list that is a field. */
export interface PipedBytes {
	readonly field: string;
	readonly index?: number;
	readonly length: number;
}

export type Work = Readonly<Record<string, unknown>>;

/** A job without its large bytes, and those in the order in which they go through the pipe. */
export function takeOutBytes(work: Work): { rest: Work; piped: readonly PipedBytes[]; bytes: readonly Uint8Array[] } {
	const piped: PipedBytes[] = [];
	const bytes: Uint8Array[] = [];
	const takeOut = (value: unknown, place: Omit<PipedBytes, "length">): unknown => {
		if (!(value instanceof Uint8Array) || value.length < LARGE_BYTES) return value;
		piped.push({ ...place, length: value.length });
		bytes.push(value);
		return null;
	};
	const rest: Record<string, unknown> = {};
	for (const [field, value] of Object.entries(work))
		rest[field] = Array.isArray(value) ? value.map((item, index) => takeOut(item, { field, index })) : takeOut(value, { field });
	return { rest, piped, bytes };
}

/** Writes bytes as fast as they are read. Throws where the reader is gone. */
export async function writeBytes(bytes: readonly Uint8Array[], sink: FileSink): Promise<void> {
	for (const whole of bytes)
		for (let at = 0; at < whole.length; at += SLICE_BYTES) {
			sink.write(whole.subarray(at, at + SLICE_BYTES));
			await sink.flush();
		}
}

/** The child's end of the pipe. */
export class BytePipe {
	readonly #reader = Bun.stdin.stream().getReader();
	/** Came with the bytes before. */
	#rest: Uint8Array = new Uint8Array(0);

	/** The job as it was before its bytes were taken out. */
	async putBack(rest: Work, piped: readonly PipedBytes[]): Promise<Work> {
		const work: Record<string, unknown> = { ...rest };
		for (const { field, index, length } of piped) {
			const bytes = await this.#read(length);
			if (index === undefined) work[field] = bytes;
			else (work[field] as unknown[])[index] = bytes;
		}
		return work;
	}

	async #read(length: number): Promise<Uint8Array> {
		const whole = new Uint8Array(length);
		for (let at = 0; at < length; ) {
			if (this.#rest.length === 0) {
				const { value } = await this.#reader.read();
				if (value === undefined) throw new Error("the parent closed the pipe");
				this.#rest = value;
			}
			const piece = this.#rest.subarray(0, length - at);
			whole.set(piece, at);
			at += piece.length;
			this.#rest = this.#rest.subarray(piece.length);
		}
		return whole;
	}
}
