import type { Log } from "../../telemetry/log.ts";
import type { TimerClock } from "../../telemetry/timer-clock.ts";
import type { RpcFault } from "./faults.ts";
import type { RpcMember } from "./member.ts";

/** Faults of one kind at one upstream are logged once in this time. The others are only counted. */
const QUIET_MS = 1_000;

interface Quiet {
	readonly untilMs: number;
	suppressed: number;
}

/** Logs faults, but not every one of thousands, because synchronous logging slows the server. */
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
			quiet.suppressed++;
			return;
		}
		const suppressed = quiet?.suppressed ?? 0;
		this.#quiet.set(key, { untilMs: nowMs + QUIET_MS, suppressed: 0 });
		const fields = {
			requestId,
			network,
			upstream: name,
			kind,
			detail: message,
			...(suppressed > 0 ? { untold: suppressed } : {}),
		};
		if (kind === "unsupported") this.#log.debug(fields, "an upstream of a chain lacks a method");
		else this.#log.warn(fields, "an upstream of a chain failed");
	}

	/** Forgets all counts, since new settings may remove upstreams. */
	reset(): void {
		this.#quiet.clear();
	}
}
