import { ApiError } from "../errors/index.ts";
import { FairQueue, RecentUse, type Requester } from "../fairness/index.ts";
import type { Log } from "../telemetry/log.ts";
import { EngineError } from "./engine-error.ts";
import { engineRecord } from "./engine-records.ts";
import { EngineProcess } from "./process.ts";

export interface JobPoolOptions<Done> {
	/** The name in the log. */
	readonly name: string;
	readonly log: Log;
	/** The child's entry file. It receives a job's fields with an `id`, and answers with an object of the same `id`. */
	readonly entry: string;
	/** Variables for the child only, never secrets. */
	readonly env?: Readonly<Record<string, string>>;
	/** Returns the child's first message, new for each start. */
	init(): Promise<unknown>;
	/** Parses a child's answer; throws if it is malformed. */
	parse(done: unknown): Done & { readonly id: number };
	/** The number of concurrent jobs, each in its own process. */
	readonly processes: number;
	/** True: while all processes are busy, one more takes a job of a tenant without a running one. */
	readonly reserve: boolean;
	/** Processor time of one job (`WorkMeter`). */
	readonly limitMs: number;
	/** Resident memory of a process and its descendants. */
	readonly maxMemoryMb: number;
	/** The number of waiting jobs, of which each tenant has a share; with 0, each job needs a free process. */
	readonly maxWaiting: number;
	readonly idleStopMs: number;
	/** Returns true for an answer that says that the job is invalid. Default: no answer does. */
	isRefusal?(done: Done): boolean;
	/** Processor time of a tenant's unpaid jobs after which it has to wait. Default: 60 s. */
	readonly maxWastedMs?: number;
	/** Errors for a job that is itself at fault; `overflow` if too many wait. */
	readonly faults: {
		tooSlow(limitMs: number): Error;
		tooHungry(): Error;
		/** The process ended during the job. */
		ended(): Error;
		overflow(): Error;
	};
}

const MAX_WASTED_MS = 60_000;
/** A process that holds more than this share of its memory limit after a job is restarted. */
const WORN_SHARE = 0.5;
const START_LIMIT_MS = 30_000;

/**
 * Runs jobs in a few child processes, one job at a time in each; the others wait in a queue that tenants share. A job that
 * works too long or uses too much memory ends only its process.
 */
export class JobPool<Done> {
	readonly #options: JobPoolOptions<Done>;
	readonly #gate: FairQueue;
	readonly #workers: JobWorker<Done>[] = [];
	readonly #free: JobWorker<Done>[] = [];
	/** Processor time of unpaid jobs. */
	readonly #wasted = new RecentUse(() => performance.now());
	#closed = false;

	constructor(options: JobPoolOptions<Done>) {
		const { processes: places, reserve, maxWaiting, faults } = options;
		this.#options = options;
		this.#gate = new FairQueue({ places, reserve, maxWaiting, overflow: faults.overflow });
		engineRecord(options.name).queues.add(this);
	}

	/** Returns the number of waiting jobs. */
	get waiting(): number {
		return this.#gate.waiting;
	}

	/** Returns the number of running jobs. */
	get working(): number {
		return this.#gate.running;
	}

	/**
	 * Runs a job.
	 * @param work plain fields and bytes; the bytes are released when this settles
	 * @throws one of `faults`; ApiError SERVICE_UNAVAILABLE if the process does not start or the pool is stopped, REQUEST_TIMEOUT
	 * if it stalls; the reason of the requester's signal
	 */
	async run(work: object, requester: Requester): Promise<Done> {
		if (this.#closed) throw stoppedError();
		this.#refuseWaster(requester.tenant);
		return this.#gate.run(requester, () => this.#work(work, requester));
	}

	/** Returns the ids of the running processes. */
	pids(): number[] {
		return this.#workers.flatMap((worker) => worker.pid ?? []);
	}

	/** Ends all processes for good; waiting jobs are refused. */
	async stop(): Promise<void> {
		this.#closed = true;
		engineRecord(this.#options.name).queues.delete(this);
		this.#gate.refuseWaiting(stoppedError());
		await Promise.all(this.#workers.map((worker) => worker.stop()));
	}

	/** Refuses a tenant with too much unpaid work: callers who left, or sent unreadable data, have paid nothing. */
	#refuseWaster(tenant: string): void {
		const waitMs = this.#wasted.waitMs(tenant, this.#options.maxWastedMs ?? MAX_WASTED_MS);
		if (waitMs === 0) return;
		const seconds = Math.ceil(waitMs / 1_000);
		throw new ApiError("RATE_LIMIT_EXCEEDED", {
			message: `Work that gave nothing (broken files, calls that were left) took too much processor time; retry in ${seconds}s`,
			retryAfterSeconds: seconds,
			headers: { "x-ratelimit-type": "user" },
		});
	}

	async #work(work: object, { tenant, signal }: Requester): Promise<Done> {
		const worker = this.#free.pop() ?? this.#newWorker();
		this.#startReserve();
		let isWasted = true;
		try {
			const done = await worker.run(work, signal);
			isWasted = this.#options.isRefusal?.(done) ?? false;
			return done;
		} catch (fault) {
			if (!(fault instanceof EngineError)) throw fault;
			throw new ApiError("SERVICE_UNAVAILABLE", { retryAfterSeconds: fault.retryAfterSeconds ?? 2, cause: fault });
		} finally {
			if (isWasted) this.#wasted.add(tenant, worker.lastCpuMs);
			this.#free.push(worker);
		}
	}

	/** Starts the reserve once all processes are busy, so that the tenant that needs it does not wait for its start. */
	#startReserve(): void {
		const { processes, reserve } = this.#options;
		if (!reserve || this.#closed || this.#gate.running < processes || this.#workers.length > processes) return;
		const worker = this.#newWorker();
		this.#free.push(worker);
		worker.warm();
	}

	#newWorker(): JobWorker<Done> {
		const worker = new JobWorker(this.#options);
		this.#workers.push(worker);
		return worker;
	}
}

/** The job is not at fault: the machine had no time for it, or the process waits forever. */
function stalledError(): ApiError {
	return new ApiError("REQUEST_TIMEOUT", {
		message: "This server had no processor time for the work; try again later",
		retryAfterSeconds: 30,
	});
}

function stoppedError(): ApiError {
	return new ApiError("SERVICE_UNAVAILABLE", { retryAfterSeconds: 2 });
}

/** One process and its current job. */
class JobWorker<Done> {
	/** Processor time of the last job. */
	lastCpuMs = 0;
	readonly #options: JobPoolOptions<Done>;
	#process: EngineProcess<null>;
	#nextId = 0;
	#open: { readonly id: number; resolve(done: Done): void; reject(fault: unknown): void } | null = null;

	constructor(options: JobPoolOptions<Done>) {
		this.#options = options;
		this.#process = this.#newProcess();
	}

	get pid(): number | null {
		return this.#process.pid;
	}

	stop(): Promise<void> {
		return this.#process.close();
	}

	/** Starts the process before its first job. If it fails to start, that job gets the reason. */
	warm(): void {
		this.#process.start().catch(() => {});
	}

	/**
	 * Runs a job.
	 * @throws {EngineError} or one of `faults`
	 */
	async run(work: object, signal: AbortSignal): Promise<Done> {
		const { limitMs, maxMemoryMb, faults } = this.#options;
		await this.#process.start();
		signal.throwIfAborted();
		const id = this.#nextId++;
		const { promise, resolve, reject } = Promise.withResolvers<Done>();
		this.#open = { id, resolve, reject };
		const firstCpuMs = this.#process.cpuMs ?? 0;
		const noteCpu = () => {
			this.lastCpuMs = Math.max(0, (this.#process.cpuMs ?? firstCpuMs) - firstCpuMs);
		};
		const end = (why: string, fault: unknown) => {
			noteCpu();
			reject(fault);
			void this.#process.kill(why);
		};
		const leave = () => end("its caller left", signal.reason);
		const limits = { workMs: limitMs, maxBytes: maxMemoryMb * 2 ** 20 };
		const unwatch = this.#process.watchWork(limits, (excess) => {
			if (excess === "work") end("a job took too long", faults.tooSlow(limitMs));
			else if (excess === "memory") end("a job took too much memory", faults.tooHungry());
			else end("a job stands still", stalledError());
		});
		signal.addEventListener("abort", leave, { once: true });
		try {
			const isSent = await this.#process.sendLarge({ ...work, id });
			// If we killed the process, the job already has its error.
			if (!isSent) reject(new EngineError("exited", `The ${this.#options.name} engine ended`));
			const done = await promise;
			noteCpu();
			return done;
		} finally {
			unwatch();
			signal.removeEventListener("abort", leave);
			this.#open = null;
			await this.#rest();
		}
	}

	/** Restarts a process that a large job has grown, to release its memory. */
	async #rest(): Promise<void> {
		const rss = await this.#process.rssBytes();
		if (rss !== null && rss > this.#options.maxMemoryMb * 2 ** 20 * WORN_SHARE) await this.#process.kill("it holds much memory");
	}

	#newProcess(): EngineProcess<null> {
		const { name, log, entry, env, init, maxMemoryMb, idleStopMs, limitMs } = this.#options;
		return new EngineProcess({
			name,
			entry,
			...(env === undefined ? {} : { env }),
			init,
			parseReady: () => null,
			onDone: (done) => this.#onDone(done),
			onExit: () => this.#onExit(),
			log,
			startLimitMs: START_LIMIT_MS,
			// The watch over each job acts first, and gives the caller a reason.
			maxMemoryMb: maxMemoryMb * 2,
			idleStopMs,
			unresponsiveMs: limitMs * 2,
		});
	}

	#onDone(done: unknown): void {
		const parsed = this.#options.parse(done);
		if (this.#open?.id === parsed.id) this.#open.resolve(parsed);
	}

	/** The process ended during a job, which is that job's fault, so the next start is not delayed. */
	#onExit(): void {
		if (this.#open === null) return;
		this.#open.reject(this.#options.faults.ended());
		this.#process.forget();
		this.#process = this.#newProcess();
	}
}
