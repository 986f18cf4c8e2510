/**
 * Minute windows that several nodes share. A node takes requests out of a window before it admits them: where the
 * limit is low, one for each that waits; where it is high, some at once, so that few requests need a round trip.
 */
import {
	MINUTE_MS,
	type MinuteAnswer,
	type MinuteExchange,
	type MinuteGrant,
	type MinuteSum,
	type MinuteTake,
} from "../minutes.ts";

/** Up to this limit per minute each request is taken singly: exactly this many are admitted over all nodes. */
export const TAKEN_ONE_BY_ONE = 200;
/** Above it, all nodes together leave at most this part of the limit unused. */
export const UNUSED_PARTS = 8;
/** A window that ended this long ago is forgotten. */
export const FORGOTTEN_AFTER_MS = 10 * MINUTE_MS;
export const FORGET_EVERY_MS = MINUTE_MS;

interface MinuteWindow {
	startedAtMs: number;
	taken: number;
	tokens: number;
}

/** The windows of nodes whose store is this process. They end with it. */
export class MinuteWindows {
	/** Unix milliseconds. */
	readonly #wallMs: () => number;
	readonly #windows = new Map<string, MinuteWindow>();
	#forgotAtMs: number;

	constructor(wallMs: () => number) {
		this.#wallMs = wallMs;
		this.#forgotAtMs = wallMs();
	}

	/** Adds what the node counted, then takes the requests that it needs. */
	exchange({ takes, sums }: MinuteExchange, liveNodes: number): MinuteAnswer {
		const nowMs = this.#wallMs();
		const answer = {
			sums: sums.map((sum) => this.#add(sum)),
			takes: takes.map((take) => this.#take(take, nowMs, liveNodes)),
		};
		if (Math.abs(nowMs - this.#forgotAtMs) >= FORGET_EVERY_MS) this.#forget(nowMs);
		return answer;
	}

	#add(sum: MinuteSum): number | null {
		const window = this.#windows.get(keyOf(sum));
		if (window === undefined || window.startedAtMs !== sum.startedAtMs) return null;
		window.tokens = Math.max(0, window.tokens + sum.tokens);
		return window.tokens;
	}

	#take(take: MinuteTake, nowMs: number, liveNodes: number): MinuteGrant {
		const window = this.#open(keyOf(take), nowMs);
		const { limit, requested, spent } = take;
		const units =
			requested === 0 || limit <= TAKEN_ONE_BY_ONE
				? requested
				: Math.max(requested, Math.floor(limit / (UNUSED_PARTS * liveNodes)));
		const granted = Math.min(units, Math.max(0, limit - window.taken - spent));
		window.taken += spent + granted;
		const endsInMs = Math.min(MINUTE_MS, Math.max(0, window.startedAtMs + MINUTE_MS - nowMs));
		return { granted, endsInMs, ...window };
	}

	/** Returns the current window; one that has ended begins anew. */
	#open(key: string, nowMs: number): MinuteWindow {
		const known = this.#windows.get(key);
		if (known !== undefined && Math.abs(nowMs - known.startedAtMs) < MINUTE_MS) return known;
		const opened = { startedAtMs: nowMs, taken: 0, tokens: 0 };
		this.#windows.set(key, opened);
		return opened;
	}

	#forget(nowMs: number): void {
		this.#forgotAtMs = nowMs;
		for (const [key, { startedAtMs }] of this.#windows)
			if (Math.abs(nowMs - startedAtMs) > FORGOTTEN_AFTER_MS) this.#windows.delete(key);
	}
}

function keyOf({ accountId, subject }: { readonly accountId: string; readonly subject: string }): string {
	return JSON.stringify([accountId, subject]);
}
