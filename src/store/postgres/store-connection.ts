/** Connections to the store that are abandoned when it falls silent, or when another server takes its place. */
import type { SQL } from "bun";
import type { Timers } from "../../telemetry/clock.ts";
import type { StoreLink } from "../core/store.ts";
import { StoreSilentError } from "../core/store-faults.ts";
import { type ConnectOptions, connect } from "./connect.ts";
import { wantsNewConnection } from "./faults.ts";
import type { PrimaryFinder } from "./primary.ts";

/** Something that can be abandoned: a pool of connections. */
export interface Closable {
	close(options: { timeout?: number }): Promise<void>;
}

/** The server to connect to, among the hosts of a store's address. */
export type Servers = Pick<PrimaryFinder, "find" | "lost" | "onMoved">;

export class StoreConnection<On extends Closable> implements StoreLink<On> {
	readonly #connect: (address: string, onClose: () => void) => On;
	readonly #timers: Timers;
	readonly #servers: Servers;
	#on: On | null = null;
	#address = "";

	/** @param connect opens connections to a server, none of which is used before the first work */
	constructor(connect: (address: string, onClose: () => void) => On, timers: Timers, servers: Servers) {
		this.#connect = connect;
		this.#timers = timers;
		this.#servers = servers;
		servers.onMoved(() => this.#abandon());
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
			return await Promise.race([this.open().then(work), silence]);
		} catch (error) {
			this.failed(error);
			throw error;
		} finally {
			cancelTimeout();
		}
	}

	/** Returns connections to the server that takes writes now. Throws errors of `PrimaryFinder.find`. */
	async open(): Promise<On> {
		const address = await this.#servers.find();
		if (this.#on !== null && this.#address === address) return this.#on;
		this.#abandon();
		this.#address = address;
		const on: On = this.#connect(address, () => {
			// A server that went away may come back as what it was, or not: the hosts are asked before the next use.
			if (this.#on === on) this.#servers.lost(address);
		});
		this.#on = on;
		return on;
	}

	/** Notes an error of work on the connections, and abandons them where others may help. */
	failed(error: unknown): void {
		if (!wantsNewConnection(error)) return;
		this.#servers.lost(this.#address);
		this.#abandon();
	}

	async close(options: { timeout?: number } = { timeout: 0 }): Promise<void> {
		const on = this.#on;
		this.#on = null;
		await on?.close(options);
	}

	#abandon(): void {
		this.close().catch(() => {});
	}
}

/** Returns connections to the store's PostgreSQL. */
export function postgresConnection(servers: Servers, options: ConnectOptions, timers: Timers): StoreConnection<SQL> {
	return new StoreConnection((address, onClose) => connect(address, { ...options, onClose }), timers, servers);
}
