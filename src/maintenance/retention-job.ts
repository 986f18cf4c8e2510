/**
 * Removes expired records from the store (`retention`). It checks once an hour and removes in small steps with pauses between
 * them, so that the store's thread has most of its time for requests.
 */
import type { Config } from "../config/index.ts";
import type { StorePort } from "../store/port.ts";
import { retentionOrder } from "../store/retention/retention-order.ts";
import type { RetentionProgress } from "../store/retention/retention-step.ts";
import type { Clock, Timers } from "../telemetry/clock.ts";
import type { Log } from "../telemetry/log.ts";

export interface RetentionJobDeps {
	readonly store: Pick<StorePort, "admin">;
	readonly clock: Clock;
	readonly timers: Timers;
	readonly log: Log;
	/** Read before each step, because a reload changes it. */
	readonly config: () => Pick<Config, "retention" | "data">;
}

const FIRST_LOOK_MS = 60_000;
const LOOK_EVERY_MS = 3_600_000;
const PAUSE_MS = 50;
/** A step takes at most a fifth of the time. */
const PAUSES_A_STEP = 4;

export class RetentionJob {
	readonly #deps: RetentionJobDeps;
	#cancel: () => void;
	#stopped = false;
	#moved = 0;

	constructor(deps: RetentionJobDeps) {
		this.#deps = deps;
		this.#cancel = deps.timers.after(FIRST_LOOK_MS, () => void this.#step());
	}

	stop(): void {
		this.#stopped = true;
		this.#cancel();
	}

	async #step(): Promise<void> {
		const { clock, config, log, store, timers } = this.#deps;
		const { retention, data } = config();
		const startedMs = clock.monotonicMs();
		let nextMs = LOOK_EVERY_MS;
		try {
			const progress = await store.admin("retain", retentionOrder(retention, data, clock.wallMs()));
			this.#tell(progress);
			if (progress.moved) nextMs = Math.max(PAUSE_MS, (clock.monotonicMs() - startedMs) * PAUSES_A_STEP);
		} catch (error) {
			if (!this.#stopped)
				log.error({ cause: (error as Error).message }, "expired rows could not be removed from the store; retried in an hour");
		}
		if (!this.#stopped) this.#cancel = timers.after(nextMs, () => void this.#step());
	}

	#tell({ archive, moved }: RetentionProgress): void {
		const { log } = this.#deps;
		if (archive?.state === "done") {
			log.info({ month: archive.month, posts: archive.posts, file: archive.file }, "a month was archived");
		}
		if (archive?.state === "elsewhere" && this.#moved === 0) {
			log.info({ month: archive.month, owner: archive.owner }, "another one writes the archive");
		}
		this.#moved = moved ? this.#moved + 1 : 0;
	}
}
