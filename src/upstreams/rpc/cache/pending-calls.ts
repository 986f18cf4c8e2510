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
	streamClaimed: boolean;
}

export function isStream(outcome: RpcOutcome | RpcStream): outcome is RpcStream {
	return outcome.kind === "result-stream" || outcome.kind === "error-stream";
}

/** The calls in progress, by key. */
export class PendingCalls {
	readonly #clock: TimerClock;
	readonly #calls = new Map<string, PendingCall>();
	readonly #sends = new Map<string, number>();

	constructor(clock: TimerClock) {
		this.#clock = clock;
	}

	/**
	 * Returns a call that a new caller may join. Calls that began before a send of the network ended are left out: a
	 * caller that sends and then reads must see the result of the send.
	 */
	find(key: string, network: string): PendingCall | null {
		const pendingCall = this.#calls.get(key);
		if (pendingCall === undefined || pendingCall.call.abandoned) return null;
		if (pendingCall.constant) return pendingCall;
		const young = this.#clock.monotonicMs() - pendingCall.startedAtMs <= JOIN_MS;
		return young && pendingCall.sends === this.#sendsOf(network) ? pendingCall : null;
	}

	start(key: string, network: string, sharedCall: SharedCall, answer: Promise<SingleAnswer>, constant: boolean): PendingCall {
		const sends = this.#sendsOf(network);
		const pendingCall: PendingCall = {
			call: sharedCall,
			answer,
			constant,
			startedAtMs: this.#clock.monotonicMs(),
			sends,
			streamClaimed: false,
		};
		this.#calls.set(key, pendingCall);
		const over = () => {
			if (this.#calls.get(key) === pendingCall) this.#calls.delete(key);
		};
		answer.then(({ outcome }) => {
			over();
			// All waiting callers run before this. A stream that none of them reads is cancelled.
			if (isStream(outcome)) queueMicrotask(() => pendingCall.streamClaimed || outcome.cancel());
		}, over);
		return pendingCall;
	}

	/**
	 * Resolves with the call's answer, unless the caller leaves before. Resolves with null for a stream that another
	 * caller reads.
	 */
	join(pendingCall: PendingCall, call: RpcCall): Promise<SingleAnswer | null> {
		return pendingCall.call.wait(pendingCall.answer, call, (answer) => {
			if (!isStream(answer.outcome)) return answer;
			if (pendingCall.streamClaimed) return null;
			pendingCall.streamClaimed = true;
			pendingCall.call.handOver(call.signal);
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
