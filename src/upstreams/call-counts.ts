import { CALL_SECONDS, Histogram } from "../telemetry/histogram.ts";

/** What calls to one upstream came to since the start. */
export class CallCounts {
	/** Calls by what came of them: `good`, `left` (the caller went), or the kind of failure. */
	readonly outcomes = new Map<string, number>();
	/** Calls that were made because one before, at any upstream, had failed. */
	retries = 0;
	/** How often it was put out. */
	ejections = 0;
	/** Seconds of good calls, to their end or, of a stream, to its last event. */
	readonly seconds = new Histogram(CALL_SECONDS);
	/** Seconds until the head of the answer. */
	readonly headSeconds = new Histogram(CALL_SECONDS);

	ended(outcome: string, tookMs: number): void {
		this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
		if (outcome === "good") this.seconds.add(tookMs / 1_000);
	}
}

/** The counts of all upstreams by name. They go on over a reload. */
export class CountsByUpstream {
	readonly #counts = new Map<string, CallCounts>();

	of(upstream: string): CallCounts {
		let counts = this.#counts.get(upstream);
		if (counts === undefined) {
			counts = new CallCounts();
			this.#counts.set(upstream, counts);
		}
		return counts;
	}

	all(): ReadonlyMap<string, CallCounts> {
		return this.#counts;
	}
}
