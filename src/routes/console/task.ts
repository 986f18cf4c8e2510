import type { Clock } from "../../telemetry/clock.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Task } from "./types.ts";
import { instant, instantOrNull } from "./when.ts";

/** Work that continues after its start was answered: one at a time, with its last report in memory. */
export class BackgroundTask<Report> {
	readonly #name: string;
	readonly #work: () => Promise<Report>;
	readonly #clock: Clock;
	readonly #log: Log;
	#state: Task<Report>["state"] = "never";
	#startedAtMs: number | null = null;
	#endedAtMs: number | null = null;
	#report: Report | null = null;
	#error: string | null = null;

	constructor(name: string, work: () => Promise<Report>, parts: { readonly clock: Clock; readonly log: Log }) {
		this.#name = name;
		this.#work = work;
		this.#clock = parts.clock;
		this.#log = parts.log;
	}

	/** Starts the work if it is not running. */
	start(): Task<Report> {
		if (this.#state !== "running") {
			this.#state = "running";
			this.#startedAtMs = this.#clock.wallMs();
			this.#endedAtMs = null;
			void this.#run();
		}
		return this.now();
	}

	now(): Task<Report> {
		return {
			state: this.#state,
			startedAt: this.#startedAtMs === null ? null : instant(this.#startedAtMs),
			endedAt: instantOrNull(this.#endedAtMs),
			report: this.#report,
			error: this.#error,
		};
	}

	async #run(): Promise<void> {
		try {
			this.#report = await this.#work();
			this.#error = null;
			this.#state = "done";
		} catch (error) {
			this.#error = error instanceof Error ? error.message : String(error);
			this.#state = "failed";
			this.#log.warn({ task: this.#name, cause: this.#error }, "what the console started came to no end");
		}
		this.#endedAtMs = this.#clock.wallMs();
	}
}
