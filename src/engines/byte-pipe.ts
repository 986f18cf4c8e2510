/**
 * Transfers large bytes of messages between parent and child through two pipes beside the IPC channel. The channel reads a
 * message as a whole, in one turn of the event loop; a pipe transfers slices, each after the one before was read.
 */
import type { FileSink } from "bun";
import { nextTurn } from "../wire/in-turns.ts";

/** The child's ends of the pipes. */
export const INPUT_FD = 0;
export const OUTPUT_FD = 3;

/** Smaller values stay in the message. */
const LARGE_BYTES = 262_144;
const SLICE_BYTES = 262_144;
/** Bytes that are read in one turn of the event loop. */
const TURN_BYTES = 524_288;

/** A message's bytes that go through the pipe: a field, or a field or element of a field. */
export interface PipedBytes {
	readonly path: readonly string[];
	readonly length: number;
}

/** A message without its large bytes, and those bytes in the order of the pipe. */
export interface Unpiped {
	readonly rest: unknown;
	readonly piped: readonly PipedBytes[];
	readonly bytes: readonly Uint8Array[];
}

export function takeOutBytes(message: unknown): Unpiped {
	const piped: PipedBytes[] = [];
	const bytes: Uint8Array[] = [];
	const takeOut = (value: unknown, path: readonly string[]): unknown => {
		if (value instanceof Uint8Array && value.length >= LARGE_BYTES) {
			piped.push({ path, length: value.length });
			bytes.push(value);
			return null;
		}
		if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || path.length === 2) return value;
		if (Array.isArray(value)) return value.map((item, index) => takeOut(item, [...path, String(index)]));
		return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, takeOut(member, [...path, name])]));
	};
	const rest = takeOut(message, []);
	return { rest, piped, bytes };
}

/** Writes bytes as fast as they are read. Throws if the reader is gone. */
export async function writeBytes(bytes: readonly Uint8Array[], sink: FileSink): Promise<void> {
	for (const whole of bytes)
		for (let at = 0; at < whole.length; at += SLICE_BYTES) {
			// Both may fail where the reader is gone: a failure that nobody awaits would count as uncaught.
			await Promise.all([sink.write(whole.subarray(at, at + SLICE_BYTES)), sink.flush()]);
		}
}

/** The reading end of a pipe. */
export class BytePipe {
	readonly #reader;
	/** Bytes that arrived with the previous ones. */
	#rest: Uint8Array = new Uint8Array(0);
	#sinceTurn = 0;
	/** Settles when the previous messages have their bytes. */
	#before: Promise<void> = Promise.resolve();

	constructor(fd: number) {
		this.#reader = Bun.file(fd).stream().getReader();
	}

	/**
	 * Returns the message with its bytes restored. Messages are completed in the order of the calls. Rejects if the writer is
	 * gone.
	 */
	putBack(rest: unknown, piped: readonly PipedBytes[]): Promise<unknown> {
		const whole = this.#before.then(() => this.#whole(rest, piped));
		this.#before = whole.then(
			() => {},
			() => {},
		);
		return whole;
	}

	async #whole(rest: unknown, piped: readonly PipedBytes[]): Promise<unknown> {
		for (const { path, length } of piped) {
			const bytes = await this.#read(length);
			let place = rest as Record<string, unknown>;
			for (const name of path.slice(0, -1)) place = place[name] as Record<string, unknown>;
			place[path.at(-1) ?? ""] = bytes;
		}
		return rest;
	}

	/** Resolves when the reader has stopped. */
	close(): Promise<void> {
		return this.#reader.cancel();
	}

	async #read(length: number): Promise<Uint8Array> {
		const whole = new Uint8Array(length);
		for (let at = 0; at < length; ) {
			if (this.#rest.length === 0) this.#rest = await this.#next();
			const piece = this.#rest.subarray(0, length - at);
			whole.set(piece, at);
			at += piece.length;
			this.#rest = this.#rest.subarray(piece.length);
		}
		return whole;
	}

	/** Returns all available bytes at once, however many; other work runs between the calls. */
	async #next(): Promise<Uint8Array> {
		if (this.#sinceTurn >= TURN_BYTES) {
			this.#sinceTurn = 0;
			await nextTurn();
		}
		const { value } = await this.#reader.read();
		if (value === undefined) throw new Error("the pipe was closed");
		this.#sinceTurn += value.length;
		return value;
	}
}
