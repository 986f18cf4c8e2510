import type { Log } from "../../telemetry/log.ts";
import type { TimerClock } from "../../telemetry/timer-clock.ts";
import type { RpcFault } from "./faults.ts";
import type { RpcMember } from "./member.ts";

/** Faults of one kind at one upstream are told once in so long; those between are counted. */
const QUIET_MS = 1_000;

interface Quiet {
	readonly untilMs: number;
	untold: number;
}

/** Tells of faults, and not of each where there are thousands: a log that is written to at once slows what it tells of. */
export class FaultLog {
	readonly #log: Log;
	readonly #clock: TimerClock;
	readonly #quiet = new Map<string, Quiet>();

	constructor(log: Log, clock: TimerClock) {
		this.#log = log;
		this.#clock = clock;
	}

	log(requestId: string, { network, name }: RpcMember, { kind, message }: RpcFault): void {
		const key = `${network} ${name} ${kind}`;
		const nowMs = this.#clock.monotonicMs();
		const quiet = this.#quiet.get(key);
		if (quiet !== undefined && nowMs < quiet.untilMs) {
			quiet.untold++;
			return;
		}
		const untold = quiet?.untold ?? 0;
		this.#quiet.set(key, { untilMs: nowMs + QUIET_MS, untold: 0 });
		const fields = { requestId, network, upstream: name, kind, detail: message, ...(untold > 0 ? { untold } : {}) };
		if (kind === "unsupported") this.#log.debug(fields, "an upstream of a chain lacks a method");
		else this.#log.warn(fields, "an upstream of a chain failed");
	}

	/** Upstreams may be gone under new settings. */
	reset(): void {
		this.#quiet.clear();
	}
}
