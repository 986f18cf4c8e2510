/** Connections to the store that are given up when it falls silent. */
import type { SQL } from "bun";
import { type ConnectOptions, connect } from "./connect.ts";
import { StoreSilentError } from "./faults.ts";
import type { BooksLink } from "./shared-books.ts";

export class StoreConnection implements BooksLink<SQL> {
	readonly #url: string;
	readonly #options: ConnectOptions;
	#sql: SQL;

	constructor(url: string, options: ConnectOptions) {
		this.#url = url;
		this.#options = options;
		this.#sql = connect(url, options);
	}

	/**
	 * Work on the store that ends within `silenceMs`, one way or the other: past it the connections are given up, since the
	 * server, or the way to it, may be gone without a word. Throws `StoreSilentError`, and what the work throws.
	 */
	async run<T>(silenceMs: number, work: (sql: SQL) => Promise<T>): Promise<T> {
		const { promise: silence, reject } = Promise.withResolvers<never>();
		const timer = setTimeout(() => reject(new StoreSilentError("the store does not answer")), silenceMs);
		try {
			return await Promise.race([work(this.#sql), silence]);
		} catch (error) {
			if (error instanceof StoreSilentError) this.#reconnect();
			throw error;
		} finally {
			clearTimeout(timer);
		}
	}

	async close(): Promise<void> {
		await this.#sql.close({ timeout: 0 });
	}

	#reconnect(): void {
		const old = this.#sql;
		this.#sql = connect(this.#url, this.#options);
		old.close({ timeout: 0 }).catch(() => {});
	}
}
