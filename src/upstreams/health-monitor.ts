import type { FairQueue, Requester } from "../fairness/index.ts";
import type { TimerClock } from "../telemetry/timer-clock.ts";
import type { Health } from "./health.ts";

/** The part of an upstream that is monitored, whatever it serves. */
export interface Member {
	readonly name: string;
	readonly health: Health;
	/** Number of consecutive faults that eject it. */
	readonly failures: number;
	/** Running and waiting calls; shared with the member that replaces it after a reload. */
	readonly load: FairQueue;
	readonly maxConcurrent: number;
	readonly probeEveryMs: number;
}

/** Reports how a call at a member failed. */
export interface FaultReport {
	/** The message for status pages and the log. */
	readonly message: string;
	/** True if it counts towards ejecting the member. */
	readonly isFault: boolean;
	/** The pause in seconds that the member requested; null: none. */
	readonly busySeconds: number | null;
}

export interface HealthMonitorOptions<M extends Member> {
	readonly clock: TimerClock;
	/** Probes a member; returns true if it answers. Never throws. */
	readonly probe: (member: M) => Promise<boolean>;
	/** Called when a member is ejected and when it returns. */
	readonly onChange: (member: M) => void;
	/** Returns false if the settings no longer have it: its probes end. */
	readonly isCurrent: (member: M) => boolean;
}

/** Maximum time that a call waits for a place where every upstream of its model is full. */
const MAX_WAIT_MS = 5_000;

/** Monitors the members of a pool: places for calls, reports of outcomes, probes of ejected members. */
export class HealthMonitor<M extends Member> {
	readonly #options: HealthMonitorOptions<M>;
	readonly #probes = new Map<M, () => void>();
	#closed = false;

	constructor(options: HealthMonitorOptions<M>) {
		this.#options = options;
	}

	/**
	 * Takes a place among the calls that the member runs at once; null if none is free for the tenant. Call the
	 * returned function once to release it.
	 */
	take({ load }: M, tenant: string): (() => void) | null {
		return load.tryEnter(tenant);
	}

	/**
	 * Waits a while for a place, in turns between tenants; null if none is free in time. Rejects with the signal's
	 * reason.
	 */
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

	/** Records a success. */
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

	/** Probes an ejected member until it returns; repeated calls start no second probe. */
	startProbing(member: M): void {
		if (member.health.state !== "out" || this.#closed || this.#probes.has(member) || !this.#options.isCurrent(member)) return;
		const delayMs = member.probeEveryMs * member.health.backoff;
		this.#probes.set(
			member,
			this.#options.clock.after(delayMs, () => void this.#runProbe(member)),
		);
	}

	/**
	 * Probes a member at once, whatever its state. A good answer puts an ejected one on trial. Returns true if it
	 * answers.
	 */
	async probeNow(member: M): Promise<boolean> {
		const alive = await this.#options.probe(member);
		if (alive && member.health.state === "out" && this.#options.isCurrent(member)) {
			this.#stop(member);
			member.health.reportProbe(true);
			this.#options.onChange(member);
		}
		return alive;
	}

	/** Ends the probes of members that the settings no longer have. */
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
		// It may have recovered, or left the settings, while the probe ran.
		if (!this.#probes.delete(member)) return;
		member.health.reportProbe(alive);
		if (member.health.state === "out") this.startProbing(member);
		else this.#options.onChange(member);
	}
}
