/**
 * Counts this node's recent answers: requests, refusals, errors and durations, in slots of a minute and of an hour, and for
 * each model and upstream. Costs some additions per request, and fixed memory.
 */
import type { Clock } from "./clock.ts";

/** Milliseconds, accurate to about 10 %. */
export interface TookMs {
	readonly p50: number;
	readonly p95: number;
	readonly p99: number;
}

export interface TrafficSum {
	readonly requests: number;
	/** Answered with a 4xx. */
	readonly refused: number;
	/** Answered with a 5xx. */
	readonly errors: number;
	/** null if there was no request. */
	readonly tookMs: TookMs | null;
}

export interface TrafficSlot extends TrafficSum {
	/** The start of the slot, Unix milliseconds. */
	readonly atMs: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const MINUTES = 60;
const HOURS = 72;
/** Each bound is 20 % above the one before; the last bucket has all longer durations: ten minutes. */
const GROWTH = Math.log(1.2);
const BUCKETS = 74;
/** The number of names with counts of their own; models and upstreams are few. */
const MAX_NAMES = 2_000;
/** Counts of a name cover its last minutes. */
const NAMED_MINUTES = 5;

class Counts {
	requests = 0;
	refused = 0;
	errors = 0;
	readonly took = new Uint32Array(BUCKETS);

	add(status: number, bucket: number): void {
		this.requests++;
		if (status >= 500) this.errors++;
		else if (status >= 400) this.refused++;
		this.took[bucket] = (this.took[bucket] ?? 0) + 1;
	}

	clear(): void {
		this.requests = 0;
		this.refused = 0;
		this.errors = 0;
		this.took.fill(0);
	}
}

interface Slot {
	readonly number: number;
	readonly counts: Pick<Counts, "requests" | "refused" | "errors" | "took">;
}

/** A ring of the last slots of one length. */
class Ring {
	readonly #slotMs: number;
	readonly #slots: { number: number; readonly counts: Counts }[];

	constructor(slots: number, slotMs: number) {
		this.#slotMs = slotMs;
		this.#slots = Array.from({ length: slots }, () => ({ number: -1, counts: new Counts() }));
	}

	add(nowMs: number, status: number, bucket: number): void {
		const number = Math.floor(nowMs / this.#slotMs);
		const slot = this.#slots[number % this.#slots.length];
		if (slot === undefined) return;
		if (slot.number !== number) {
			slot.counts.clear();
			slot.number = number;
		}
		slot.counts.add(status, bucket);
	}

	get slots(): readonly Slot[] {
		return this.#slots.filter(({ number }) => number >= 0);
	}
}

/** The counts of a process, to be read with those of others: they survive a structured clone. */
export interface TrafficCounts {
	readonly minutes: readonly Slot[];
	readonly hours: readonly Slot[];
	readonly models: ReadonlyMap<string, readonly Slot[]>;
	readonly upstreams: ReadonlyMap<string, readonly Slot[]>;
}

export class Traffic {
	readonly #clock: Pick<Clock, "wallMs">;
	readonly #minutes = new Ring(MINUTES, MINUTE_MS);
	readonly #hours = new Ring(HOURS, HOUR_MS);
	readonly #models = new Map<string, Ring>();
	readonly #upstreams = new Map<string, Ring>();

	constructor(clock: Pick<Clock, "wallMs">) {
		this.#clock = clock;
	}

	/** Counts an answered request. `model` and `upstream` are undefined if there is none. */
	note(status: number, tookMs: number, model: string | undefined, upstream: string | undefined): void {
		const nowMs = this.#clock.wallMs();
		const bucket = bucketOf(tookMs);
		this.#minutes.add(nowMs, status, bucket);
		this.#hours.add(nowMs, status, bucket);
		if (model !== undefined) ringOf(this.#models, model)?.add(nowMs, status, bucket);
		if (upstream !== undefined) ringOf(this.#upstreams, upstream)?.add(nowMs, status, bucket);
	}

	/** Returns the counts as they are now. */
	counts(): TrafficCounts {
		const slotsByName = (rings: ReadonlyMap<string, Ring>) => new Map([...rings].map(([name, ring]) => [name, ring.slots]));
		return {
			minutes: this.#minutes.slots,
			hours: this.#hours.slots,
			models: slotsByName(this.#models),
			upstreams: slotsByName(this.#upstreams),
		};
	}
}

/** The traffic of one process, or of several together. */
export class TrafficReport {
	readonly #nowMs: number;
	readonly #counts: readonly TrafficCounts[];

	constructor(counts: readonly TrafficCounts[], nowMs: number) {
		this.#counts = counts;
		this.#nowMs = nowMs;
	}

	/** Returns the sum of the last five minutes. */
	now(): TrafficSum {
		return this.#sum(({ minutes }) => minutes);
	}

	/** Returns the last hour by the minute, oldest first. */
	minutes(): TrafficSlot[] {
		return this.#last(({ minutes }) => minutes, MINUTES, MINUTE_MS);
	}

	/** Returns the last 72 hours by the hour, oldest first. */
	hours(): TrafficSlot[] {
		return this.#last(({ hours }) => hours, HOURS, HOUR_MS);
	}

	/** Returns the last five minutes of a model. */
	ofModel(id: string): TrafficSum {
		return this.#sum(({ models }) => models.get(id) ?? []);
	}

	/** Returns the last five minutes of an upstream. */
	ofUpstream(name: string): TrafficSum {
		return this.#sum(({ upstreams }) => upstreams.get(name) ?? []);
	}

	#sum(pick: (counts: TrafficCounts) => readonly Slot[]): TrafficSum {
		const newest = Math.floor(this.#nowMs / MINUTE_MS);
		const slots = this.#counts.flatMap(pick).filter(({ number }) => number > newest - NAMED_MINUTES && number <= newest);
		return sumOf(slots.map(({ counts }) => counts));
	}

	#last(pick: (counts: TrafficCounts) => readonly Slot[], slots: number, slotMs: number): TrafficSlot[] {
		const newest = Math.floor(this.#nowMs / slotMs);
		const byNumber = Map.groupBy(this.#counts.flatMap(pick), ({ number }) => number);
		return Array.from({ length: slots }, (_, index) => {
			const number = newest - slots + 1 + index;
			return { atMs: number * slotMs, ...sumOf((byNumber.get(number) ?? []).map(({ counts }) => counts)) };
		});
	}
}

export const NAMED_WINDOW_SECONDS = (NAMED_MINUTES * MINUTE_MS) / 1_000;

function ringOf(rings: Map<string, Ring>, name: string): Ring | undefined {
	const existingRing = rings.get(name);
	if (existingRing !== undefined || rings.size >= MAX_NAMES) return existingRing;
	const ring = new Ring(NAMED_MINUTES + 1, MINUTE_MS);
	rings.set(name, ring);
	return ring;
}

function bucketOf(tookMs: number): number {
	return tookMs <= 1 ? 0 : Math.min(BUCKETS - 1, Math.ceil(Math.log(tookMs) / GROWTH));
}

/** Returns the middle of a bucket, for durations in whole milliseconds. */
function middleOf(bucket: number): number {
	return bucket === 0 ? 1 : Math.round(Math.exp((bucket - 0.5) * GROWTH));
}

function sumOf(slots: readonly Pick<Counts, "requests" | "refused" | "errors" | "took">[]): TrafficSum {
	const sum = new Counts();
	for (const counts of slots) {
		sum.requests += counts.requests;
		sum.refused += counts.refused;
		sum.errors += counts.errors;
		for (let bucket = 0; bucket < BUCKETS; bucket++) sum.took[bucket] = (sum.took[bucket] ?? 0) + (counts.took[bucket] ?? 0);
	}
	const { requests, refused, errors } = sum;
	const quantile = (share: number) => middleOf(bucketAt(sum.took, Math.ceil(requests * share)));
	return {
		requests,
		refused,
		errors,
		tookMs: requests === 0 ? null : { p50: quantile(0.5), p95: quantile(0.95), p99: quantile(0.99) },
	};
}

/** Returns the bucket of the request with this rank in ascending duration, from 1. */
function bucketAt(took: Uint32Array, place: number): number {
	let count = 0;
	for (let bucket = 0; bucket < took.length; bucket++) {
		count += took[bucket] ?? 0;
		if (count >= place) return bucket;
	}
	return took.length - 1;
}
