import type { TimerClock } from "../../../telemetry/timer-clock.ts";
import type { RpcAnswer, RpcCall, RpcOutcome, RpcStream } from "../port.ts";
import type { SharedCall } from "./shared-call.ts";

/**
 * How long others may join a call after it began, unless its answer does not change. They ask for the present state.
 */
const JOIN_MS = 2_000;

export type SingleAnswer = RpcAnswer<RpcOutcome | RpcStream>;

/** One item in progress at the upstreams. */
export interface PendingCall {
	readonly call: SharedCall;
	readonly answer: Promise<SingleAnswer>;
	/** True if the result never changes. The time at which the call began then does not matter. */
	readonly constant: boolean;
	readonly startedAtMs: number;
	/** Number of the network's sends that had ended when the call began. */
	readonly sends: number;
	/** True once a caller reads the stream. A stream has one reader. */
	streamTaken: boolean;
}

export function isStream(outcome: RpcOutcome | RpcStream): outcome is RpcStream {
	return outcome.kind === "result-stream" || outcome.kind === "error-stream";
}

/** The calls in progress, by key. */
export class PendingCalls {
	readonly #clock: TimerClock;
	readonly #flights = new Map<string, PendingCall>();
	readonly #sends = new Map<string, number>();

	constructor(clock: TimerClock) {
		this.#clock = clock;
	}

	/**
	 * Returns a call that a new caller may join. Calls that began before a send of the network ended are left out: a
	 * caller that sends and then reads must see the result of the send.
	 */
	find(key: string, network: string): PendingCall | null {
		const flight = this.#flights.get(key);
		if (flight === undefined || flight.call.abandoned) return null;
		if (flight.constant) return flight;
		const young = this.#clock.monotonicMs() - flight.startedAtMs <= JOIN_MS;
		return young && flight.sends === this.#sendsOf(network) ? flight : null;
	}

	start(key: string, network: string, trip: SharedCall, answer: Promise<SingleAnswer>, constant: boolean): PendingCall {
		const sends = this.#sendsOf(network);
		const flight: PendingCall = {
			call: trip,
			answer,
			constant,
			startedAtMs: this.#clock.monotonicMs(),
			sends,
			streamTaken: false,
		};
		this.#flights.set(key, flight);
		const over = () => {
			if (this.#flights.get(key) === flight) this.#flights.delete(key);
		};
		answer.then(({ outcome }) => {
			over();
			// All waiting callers run before this. A stream that none of them reads is cancelled.
			if (isStream(outcome)) queueMicrotask(() => flight.streamTaken || outcome.cancel());
		}, over);
		return flight;
	}

	/**
	 * Resolves with the call's answer, unless the caller leaves before. Resolves with null for a stream that another
	 * caller reads.
	 */
	join(flight: PendingCall, call: RpcCall): Promise<SingleAnswer | null> {
		return flight.call.wait(flight.answer, call, (answer) => {
			if (!isStream(answer.outcome)) return answer;
			if (flight.streamTaken) return null;
			flight.streamTaken = true;
			flight.call.handOver(call.signal);
			return answer;
		});
	}

	sendEnded(network: string): void {
		this.#sends.set(network, this.#sendsOf(network) + 1);
	}

	#sendsOf(network: string): number {
		return this.#sends.get(network) ?? 0;
	}
}
