import type { FairQueue, Requester } from "../fairness/index.ts";
import type { TimerClock } from "../telemetry/timer-clock.ts";
import type { Health } from "./health.ts";

/** What of an upstream is looked after, whatever it serves. */
export interface Member {
	readonly name: string;
	readonly health: Health;
	/** Consecutive faults that eject it. */
	readonly failures: number;
	/** Calls under way, and those that wait; shared with the member that new settings put in its place. */
	readonly load: FairQueue;
	readonly maxConcurrent: number;
	readonly probeEveryMs: number;
}

/** How a call at a member failed. */
export interface FaultReport {
	/** For status pages and the log. */
	readonly message: string;
	/** Counts towards taking the member out. */
	readonly isFault: boolean;
	/** The pause that it asked for in seconds; null: none. */
	readonly busySeconds: number | null;
}

export interface HealthMonitorOptions<M extends Member> {
	readonly clock: TimerClock;
	/** Asks a member whether it is there; true where it answers. Never throws. */
	readonly probe: (member: M) => Promise<boolean>;
	/** Told when a member is put out and when it comes back. */
	readonly onChange: (member: M) => void;
	/** False where the settings have it no more: it is probed no longer. */
	readonly isCurrent: (member: M) => boolean;
}

/** A call waits so long for a place where every upstream of its model is full. */
const MAX_WAIT_MS = 5_000;

/** Looks after the members of a pool: places for calls, reports of how they went, probes of those that are out. */
export class HealthMonitor<M extends Member> {
	readonly #options: HealthMonitorOptions<M>;
	readonly #probes = new Map<M, () => void>();
	#closed = false;

	constructor(options: HealthMonitorOptions<M>) {
		this.#options = options;
	}

	/** A place among the calls that the member runs at once; null where it has none for the tenant. Give it back once. */
	take({ load }: M, tenant: string): (() => void) | null {
		return load.tryEnter(tenant);
	}

	/** Waits a while for a place, in turns between tenants; null where there is none in time. Rejects with the signal's reason. */
	async wait({ load }: M, { tenant, signal }: Requester): Promise<(() => void) | null> {
		signal.throwIfAborted();
		const controller = new AbortController();
		const onLeft = () => controller.abort(signal.reason);
		signal.addEventListener("abort", onLeft, { once: true });
		const cancelTimer = this.#options.clock.after(MAX_WAIT_MS, () => controller.abort());
		try {
			return await load.enter({ tenant, signal: controller.signal });
		} catch {
			signal.throwIfAborted();
			return null;
		} finally {
			cancelTimer();
			signal.removeEventListener("abort", onLeft);
		}
	}

	/** It answered as it should. */
	reportSuccess(member: M): void {
		const wasOut = member.health.state !== "up";
		member.health.reportSuccess();
		this.#stop(member);
		if (wasOut) this.#options.onChange(member);
	}

	reportFailure(member: M, { message, isFault, busySeconds }: FaultReport): void {
		if (busySeconds !== null) member.health.busyUntil(this.#options.clock.monotonicMs() + busySeconds * 1000);
		if (!isFault || !member.health.reportFault(message, member.failures)) return;
		this.#options.onChange(member);
		this.startProbing(member);
	}

	/** Probes a member that is out until it is back; once, however often it is called. */
	startProbing(member: M): void {
		if (member.health.state !== "out" || this.#closed || this.#probes.has(member) || !this.#options.isCurrent(member)) return;
		const delayMs = member.probeEveryMs * member.health.backoff;
		this.#probes.set(
			member,
			this.#options.clock.after(delayMs, () => void this.#runProbe(member)),
		);
	}

	/** Asks a member at once, whatever its state; where it is out a good answer lets it back on trial. True where it answers. */
	async probeNow(member: M): Promise<boolean> {
		const alive = await this.#options.probe(member);
		if (alive && member.health.state === "out" && this.#options.isCurrent(member)) {
			this.#stop(member);
			member.health.reportProbe(true);
			this.#options.onChange(member);
		}
		return alive;
	}

	/** Ends the probes of members that the settings have no more. */
	retainOnly(): void {
		for (const member of [...this.#probes.keys()]) if (!this.#options.isCurrent(member)) this.#stop(member);
	}

	close(): void {
		this.#closed = true;
		for (const stop of this.#probes.values()) stop();
		this.#probes.clear();
	}

	#stop(member: M): void {
		this.#probes.get(member)?.();
		this.#probes.delete(member);
	}

	async #runProbe(member: M): Promise<void> {
		const alive = await this.#options.probe(member);
		// It may have recovered by itself, or left the settings, while the probe ran.
		if (!this.#probes.delete(member)) return;
		member.health.reportProbe(alive);
		if (member.health.state === "out") this.startProbing(member);
		else this.#options.onChange(member);
	}
}
