import { CALL_SECONDS, Histogram } from "../telemetry/histogram.ts";

/** Outcomes of the calls to one upstream since the start. */
export class CallCounts {
	/** Calls by outcome: `good`, `left` (the caller left), or the kind of failure. */
	readonly outcomes = new Map<string, number>();
	/** Calls made because an earlier one, at any upstream, had failed. */
	retries = 0;
	/** Number of times that the upstream was ejected. */
	ejections = 0;
	/** Seconds that good calls took, to their end or, in a stream, to the last event. */
	readonly seconds = new Histogram(CALL_SECONDS);
	/** Seconds until the headers of the answer. */
	readonly headSeconds = new Histogram(CALL_SECONDS);

	ended(outcome: string, tookMs: number): void {
		this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
		if (outcome === "good") this.seconds.add(tookMs / 1_000);
	}
}

/** The counts of all upstreams by name. They continue over a reload. */
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
