import type { TimerClock } from "../../../telemetry/timer-clock.ts";
import type { RpcAnswer, RpcCall, RpcOutcome, RpcStream } from "../port.ts";
import type { SharedCall } from "./shared-call.ts";

/** A call is joined by others only so long after it began, unless its answer does not change: they ask for what is true now. */
const JOIN_MS = 2_000;

export type SingleAnswer = RpcAnswer<RpcOutcome | RpcStream>;

/** One item under way to the upstreams. */
export interface PendingCall {
	readonly call: SharedCall;
	readonly answer: Promise<SingleAnswer>;
	/** Its result stays true: when it began does not matter. */
	readonly constant: boolean;
	readonly startedAtMs: number;
	/** Sends of its network that had ended when it began. */
	readonly sends: number;
	/** A stream has one reader. */
	streamTaken: boolean;
}

export function isStream(outcome: RpcOutcome | RpcStream): outcome is RpcStream {
	return outcome.kind === "result-stream" || outcome.kind === "error-stream";
}

/** What is under way, by what it asks. */
export class PendingCalls {
	readonly #clock: TimerClock;
	readonly #flights = new Map<string, PendingCall>();
	readonly #sends = new Map<string, number>();

	constructor(clock: TimerClock) {
		this.#clock = clock;
	}

	/**
	 * One that a caller may join who asks now. Not one that began before a send of the network ended: whoever sent
	 * something and then reads must see it.
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
			// All who wait have their turn before this: a stream that none of them reads is nobody's.
			if (isStream(outcome)) queueMicrotask(() => flight.streamTaken || outcome.cancel());
		}, over);
		return flight;
	}

	/** The flight's answer, unless the caller leaves before; null where it is a stream that another one reads. */
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
