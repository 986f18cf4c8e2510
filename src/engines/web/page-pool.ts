import { join } from "node:path";
import Value from "typebox/value";
import { ApiError } from "../../errors/index.ts";
import type { Requester } from "../../fairness/index.ts";
import type { Log } from "../../telemetry/log.ts";
import { JobPool } from "../job-pool.ts";
import { type ReadPage, WebDone, type WebJob } from "./page-work.ts";
import { PageFault } from "./port.ts";

export interface PagePoolOptions {
	readonly log: Log;
	/** The number of concurrent pages, each in its own process. */
	readonly processes: number;
	/** Resident memory of a process. */
	readonly maxMemoryMb: number;
	/** Processor time of one page. Default 10 s. */
	readonly limitMs?: number;
	/** The number of waiting pages. Default 512. */
	readonly maxWaiting?: number;
	readonly idleStopMs?: number;
	/** The child's entry file. */
	readonly entry?: string;
}

/** Runs work that hostile sites could make expensive in child processes: HTML to Markdown, and the rules of robots.txt. */
export class PagePool {
	readonly #jobs: JobPool<WebDone>;

	constructor(options: PagePoolOptions) {
		this.#jobs = new JobPool({
			name: "pages",
			log: options.log,
			entry: options.entry ?? join(import.meta.dir, "child.ts"),
			init: async () => null,
			parse: (done) => Value.Parse(WebDone, done),
			processes: options.processes,
			reserve: true,
			limitMs: options.limitMs ?? 10_000,
			maxMemoryMb: options.maxMemoryMb,
			maxWaiting: options.maxWaiting ?? 512,
			idleStopMs: options.idleStopMs ?? 300_000,
			isRefusal: ({ fault }) => fault !== undefined,
			faults: { tooSlow, tooHungry, ended, overflow },
		});
	}

	/**
	 * Converts a page.
	 * @throws {PageFault} or ApiError SERVICE_UNAVAILABLE
	 */
	async page(page: Omit<WebJob & { kind: "page" }, "kind">, requester: Requester): Promise<ReadPage> {
		const { page: read, fault } = await this.#run({ kind: "page", ...page }, requester);
		if (read !== undefined) return read;
		throw new PageFault("page_unsupported", fault ?? "The page could not be read");
	}

	/**
	 * Returns true if a robots.txt lets `agent` read an address.
	 * @throws {PageFault} or ApiError SERVICE_UNAVAILABLE
	 */
	async isAllowed(query: Omit<WebJob & { kind: "robots" }, "kind">, requester: Requester): Promise<boolean> {
		const { isAllowed } = await this.#run({ kind: "robots", ...query }, requester);
		return isAllowed ?? false;
	}

	/** Returns the ids of the running processes. */
	pids(): number[] {
		return this.#jobs.pids();
	}

	/** Ends all processes for good; waiting pages are refused. */
	stop(): Promise<void> {
		return this.#jobs.stop();
	}

	#run(job: WebJob, requester: Requester): Promise<WebDone> {
		return this.#jobs.run(job, requester);
	}
}

const tooSlow = (limitMs: number) =>
	new ApiError("REQUEST_TIMEOUT", {
		message: `The page takes more than ${limitMs / 1_000} s of processor time to turn into Markdown; name another page`,
	});
const tooHungry = () => new PageFault("page_too_costly", "The page takes more memory than a page may");
const ended = () => new PageFault("page_too_costly", "The page could not be read: its reader ended in the middle of it");
const overflow = () =>
	new ApiError("SERVICE_UNAVAILABLE", { message: "Too many pages wait to be read; try again shortly", retryAfterSeconds: 2 });
