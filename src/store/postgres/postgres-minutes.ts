/** Exchanges minute windows on a connection of their own, so that no batch and no lease delays them. */
import type { SQL } from "bun";
import type { Timers } from "../../telemetry/clock.ts";
import { FORGET_EVERY_MS } from "../core/minute-windows.ts";
import type { MinuteExchanger } from "../core/store.ts";
import type { MinuteAnswer, MinuteExchange } from "../minutes.ts";
import { exchangeMinutes, forgetMinutes } from "./minute-table.ts";
import { postgresConnection, type Servers, type StoreConnection } from "./store-connection.ts";

/** The event loop waits at most a second. */
const STATEMENT_MS = 2_000;
const SILENCE_MS = 3_000;

export class PostgresMinutes implements MinuteExchanger {
	readonly #store: StoreConnection<SQL>;
	#forgotAt = performance.now();

	constructor(servers: Servers, timers: Timers) {
		this.#store = postgresConnection(servers, { max: 1, name: "turnpike minutes", statementTimeoutMs: STATEMENT_MS }, timers);
	}

	async exchange(exchange: MinuteExchange): Promise<MinuteAnswer> {
		const answer = await this.#store.run(SILENCE_MS, (sql) => exchangeMinutes(sql, exchange));
		if (performance.now() - this.#forgotAt >= FORGET_EVERY_MS) {
			this.#forgotAt = performance.now();
			// Where this fails, the rows stay until the next time.
			this.#store.run(SILENCE_MS, forgetMinutes).catch(() => {});
		}
		return answer;
	}

	close(): Promise<void> {
		return this.#store.close();
	}
}
