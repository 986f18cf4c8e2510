/** Connections to the store that are abandoned when it falls silent. */
import type { Timers } from "../../telemetry/clock.ts";
import type { StoreLink } from "../core/store.ts";
import { StoreSilentError } from "../core/store-faults.ts";
import { wantsNewConnection } from "./faults.ts";

/** Something that can be abandoned: a pool of connections. */
export interface Closable {
	close(options: { timeout: number }): Promise<void>;
}

export class StoreConnection<On extends Closable> implements StoreLink<On> {
	readonly #connect: () => On;
	readonly #timers: Timers;
	#on: On;

	/** @param connect opens connections, none of which is used before the first work */
	constructor(connect: () => On, timers: Timers) {
		this.#connect = connect;
		this.#timers = timers;
		this.#on = connect();
	}

	/**
	 * Runs work on the store that ends within `silenceMs`, one way or the other. Past it the connections are abandoned,
	 * since the server, or the way to it, may be gone silently; likewise where the server is read-only. Throws
	 * `StoreSilentError`, and errors of the work.
	 */
	async run<T>(silenceMs: number, work: (on: On) => Promise<T>): Promise<T> {
		const { promise: silence, reject } = Promise.withResolvers<never>();
		const cancelTimeout = this.#timers.after(silenceMs, () => reject(new StoreSilentError("the store does not answer")));
		try {
			return await Promise.race([work(this.#on), silence]);
		} catch (error) {
			if (wantsNewConnection(error)) this.#reconnect();
			throw error;
		} finally {
			cancelTimeout();
		}
	}

	async close(): Promise<void> {
		await this.#on.close({ timeout: 0 });
	}

	#reconnect(): void {
		const abandonedConnection = this.#on;
		this.#on = this.#connect();
		abandonedConnection.close({ timeout: 0 }).catch(() => {});
	}
}
