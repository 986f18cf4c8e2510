import type { StorePort } from "../store/port.ts";
import type { Clock, Timers } from "../telemetry/clock.ts";

export interface VoiceSweepParts {
	readonly store: Pick<StorePort, "admin">;
	readonly clock: Pick<Clock, "now">;
	readonly timers: Timers;
}

const EVERY_MS = 60_000;
const SOON_MS = 1_000;
/** A step is short, and others come between two. */
const AT_ONCE = 20;

/** Lets go of voices whose time is over, with their samples: once a minute, in small steps beside the requests. */
export class VoiceSweep {
	readonly #parts: VoiceSweepParts;
	#cancel: () => void;
	#stopped = false;

	constructor(parts: VoiceSweepParts) {
		this.#parts = parts;
		this.#cancel = parts.timers.after(EVERY_MS, () => void this.#step());
	}

	stop(): void {
		this.#stopped = true;
		this.#cancel();
	}

	async #step(): Promise<void> {
		const { store, clock, timers } = this.#parts;
		let nextMs = EVERY_MS;
		try {
			const { more } = await store.admin("sweepVoices", { nowMs: clock.now(), rows: AT_ONCE });
			if (more) nextMs = SOON_MS;
		} catch {
			// Where the store is away, the next step finds the same voices.
		}
		if (!this.#stopped) this.#cancel = timers.after(nextMs, () => void this.#step());
	}
}
