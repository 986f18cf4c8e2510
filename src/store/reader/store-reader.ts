/**
 * Reads the store beside the server, in a thread and on a connection of its own, so that no list, search or audit
 * blocks the store thread or the event loop. The thread starts with the first read and ends when none has come for a
 * while. An answer includes what the store has applied: a running server's posts appear within a second.
 */
import type { Timers } from "../../telemetry/clock.ts";
import { errorOf, StoreUnavailableError } from "../store-errors.ts";
import type { FromReader, ToReader } from "./reader-messages.ts";
import type { ReadAnswer, ReadInput, ReadName } from "./reads.ts";

export interface StoreReaderOptions {
	/** A data folder, or the address of a PostgreSQL database. */
	readonly place: string;
	readonly timers: Timers;
	/** The thread ends after this long without a read. */
	readonly idleMs?: number;
}

interface Pending {
	readonly resolve: (answer: unknown) => void;
	readonly reject: (error: Error) => void;
}

const IDLE_MS = 60_000;
/** Most running reads; further ones are refused with 503. */
const MAX_PENDING = 100;

export class StoreReader {
	readonly #options: StoreReaderOptions;
	readonly #pending = new Map<number, Pending>();
	#thread: Worker | null = null;
	#endIdle: (() => void) | null = null;
	#lastId = 0;
	#closed = false;

	constructor(options: StoreReaderOptions) {
		this.#options = options;
	}

	/**
	 * Rejects with `AdminError` where the read refuses, and with `StoreUnavailableError` where the store cannot be read
	 * now.
	 */
	read<Name extends ReadName>(name: Name, input: ReadInput<Name>): Promise<ReadAnswer<Name>> {
		if (this.#closed) return Promise.reject(new StoreUnavailableError("the store is closed"));
		if (this.#pending.size >= MAX_PENDING) return Promise.reject(new StoreUnavailableError("too many reads are under way"));
		const thread = this.#running();
		const id = ++this.#lastId;
		return new Promise((resolve, reject) => {
			this.#pending.set(id, { resolve: resolve as Pending["resolve"], reject });
			thread.postMessage({ type: "read", id, name, input } as ToReader);
		});
	}

	/** Ends the thread and refuses running reads. */
	close(): void {
		this.#closed = true;
		this.#end(new StoreUnavailableError("the store is closed"));
	}

	#running(): Worker {
		this.#endIdle?.();
		this.#endIdle = null;
		if (this.#thread !== null) return this.#thread;
		const thread = new Worker(new URL("./reader-thread.ts", import.meta.url).href, { smol: true, name: "store reader" });
		thread.onmessage = (event: MessageEvent<FromReader>) => this.#receive(event.data);
		thread.onerror = (event) => this.#end(new StoreUnavailableError(`the reader of the store ended: ${event.message}`));
		thread.postMessage({ type: "open", place: this.#options.place } satisfies ToReader);
		this.#thread = thread;
		return thread;
	}

	#receive(message: FromReader): void {
		const pending = this.#pending.get(message.id);
		this.#pending.delete(message.id);
		if (message.type === "answer") pending?.resolve(message.answer);
		else pending?.reject(unavailable(errorOf(message.error)));
		if (this.#pending.size > 0) return;
		this.#endIdle = this.#options.timers.after(this.#options.idleMs ?? IDLE_MS, () => this.#end(null));
	}

	#end(error: Error | null): void {
		this.#endIdle?.();
		this.#endIdle = null;
		this.#thread?.terminate();
		this.#thread = null;
		for (const { reject } of this.#pending.values()) reject(error ?? new StoreUnavailableError("the reader of the store ended"));
		this.#pending.clear();
	}
}

/** Wraps errors of the database itself, so that a request gets 503 and not 500. */
function unavailable(error: Error): Error {
	return error.name === "StoreThreadError" ? new StoreUnavailableError(error.message) : error;
}
