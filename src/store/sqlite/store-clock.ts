/**
 * The store's time. Instants of application never go backwards, whatever the machine's clock does, since pages are
 * ordered by them.
 */
import type { Database } from "bun:sqlite";
import { DAY_MS } from "../core/day.ts";

export class StoreClock {
	readonly #wallMs: () => number;
	#lastBookingMs: number;

	constructor(db: Database, wallMs: () => number = Date.now) {
		this.#wallMs = wallMs;
		this.#lastBookingMs = lastBookingMs(db);
	}

	wallMs(): number {
		return this.#wallMs();
	}

	/** UTC days since 1970-01-01. */
	today(): number {
		return Math.floor(this.#wallMs() / DAY_MS);
	}

	postingMs(): number {
		this.#lastBookingMs = Math.max(this.#lastBookingMs, this.#wallMs());
		return this.#lastBookingMs;
	}
}

function lastBookingMs(db: Database): number {
	const row = db
		.query<{ last: bigint | null }, []>(
			`SELECT max((SELECT coalesce((SELECT booked_at FROM movements ORDER BY id DESC LIMIT 1), 0)),
				(SELECT coalesce((SELECT booked_at FROM posts ORDER BY id DESC LIMIT 1), 0))) AS last`,
		)
		.get();
	return Number(row?.last ?? 0);
}
