import { closeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Subprocess } from "bun";
import type { Log } from "../telemetry/log.ts";
import { BytePipe, OUTPUT_FD, type PipedBytes, takeOutBytes, writeBytes } from "./byte-pipe.ts";
import { boundMemory } from "./cgroup.ts";
import type { FromChild, ToChild } from "./child-messages.ts";
import { EngineError } from "./engine-error.ts";
import { type EngineRecord, engineRecord } from "./engine-records.ts";
import { drainToLog } from "./output-drain.ts";
import { endTree, treeUsage } from "./process-tree.ts";
import { type Excess, type WorkLimits, WorkMeter, type WorkUsage, watchWork } from "./work-meter.ts";

export type EngineState = "stopped" | "starting" | "ready" | "backing-off";

export interface EngineProcessOptions<Ready> {
	/** The name in the log. */
	readonly name: string;
	/** The child's entry file. */
	readonly entry: string;
	/** Returns the child's first message, new for each start. Secrets are sent this way, never by argument or environment. */
	init(): Promise<unknown>;
	/** Parses the child's ready message; throws if it is malformed. */
	parseReady(ready: unknown): Ready;
	/** Receives an answer to `send`. */
	onDone?(done: unknown): void;
	/** Variables for the child only, besides those that any program needs. Never secrets. */
	readonly env?: Readonly<Record<string, string>>;
	/** Called after each end of the process, intended or not. */
	onExit?(): void;
	readonly log: Log;
	/** The limit for a start, in processor time (`WorkMeter`). */
	readonly startLimitMs?: number;
	/** Resident memory of the child and its descendants, in MB, above which they are killed. */
	readonly maxMemoryMb: number;
	/** The child is stopped after this time without use; null: never. */
	readonly idleStopMs: number | null;
	/** A child that works this long while its event loop does not respond is killed. Processor time (`WorkMeter`). */
	readonly unresponsiveMs?: number;
	/** The interval of the checks of memory, response and idleness. */
	readonly watchEveryMs?: number;
	/** The wait before the second start after a crash (the first is at once); doubles up to a minute. */
	readonly firstBackoffMs?: number;
}

const MAX_BACKOFF_MS = 60_000;
/** If a child lived this long, its crash counts as the first. */
const SOUND_AFTER_MS = 60_000;
/** A caller waits this long for a delayed start, and is refused if it takes longer. */
const MAX_START_WAIT_MS = 2_000;
const STOP_PATIENCE_MS = 2_000;

const PASSED_ON = [
	"PATH",
	"HOME",
	"LANG",
	"LC_ALL",
	"TZ",
	"TMPDIR",
	"TEMP",
	"TMP",
	"SystemRoot",
	"USERPROFILE",
	"LD_LIBRARY_PATH",
];

/** Returns the environment of a child: what a program needs to run, none of our settings or secrets. */
export function childEnvironment(): Record<string, string> {
	return Object.fromEntries(PASSED_ON.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}

interface Running {
	readonly child: Subprocess<"pipe", "pipe", "pipe">;
	/** The reading end of the child's pipe, which this process has to close. */
	readonly outputFd: number;
	/** Created when the first large bytes come. */
	output: BytePipe | null;
	readonly startedAt: number;
	readonly exited: Promise<void>;
	/** Work since the last ping; null if it was answered. */
	silence: WorkMeter | null;
	reportedRssBytes: number;
	/** Set before we end it, so that the end does not count as a crash. */
	endRequested: boolean;
	settleReady: { resolve(ready: unknown): void; reject(fault: EngineError): void };
}

/**
 * One engine in one child process: it starts at first use, restarts with growing waits, and is stopped if it uses too much
 * memory, does not respond or is idle. Its end never ends this process.
 */
export class EngineProcess<Ready> {
	readonly #options: EngineProcessOptions<Ready>;
	readonly #log: Log;
	readonly #record: EngineRecord;
	#running: Running | null = null;
	#ready: { readonly value: Ready } | null = null;
	#starting: Promise<Ready> | null = null;
	#watch: ReturnType<typeof setInterval> | undefined;
	#crashes = 0;
	#nextStartAt = 0;
	#lastUseAt = 0;
	#closed = false;

	constructor(options: EngineProcessOptions<Ready>) {
		this.#options = options;
		this.#log = options.log;
		this.#record = engineRecord(options.name);
		this.#record.processes.add(this);
	}

	get state(): EngineState {
		if (this.#ready) return "ready";
		if (this.#starting) return "starting";
		return performance.now() < this.#nextStartAt ? "backing-off" : "stopped";
	}

	get pid(): number | null {
		return this.#running?.child.pid ?? null;
	}

	/**
	 * Returns the processor time of the child and its descendants so far; null if none runs, or the system does not report it.
	 */
	get cpuMs(): number | null {
		return this.#usage()?.cpuMs ?? null;
	}

	/** Returns the resident memory of the child and its descendants, in bytes; null if none runs. */
	async rssBytes(): Promise<number | null> {
		return this.#usage()?.residentBytes ?? null;
	}

	/** Watches a piece of the child's work: see `watchWork`. The returned function ends the watch. */
	watchWork(limits: WorkLimits, onExcess: (excess: Excess) => void): () => void {
		return watchWork(() => this.#usage(), limits, onExcess);
	}

	#usage(running = this.#running): WorkUsage | null {
		if (!running) return null;
		return treeUsage(running.child.pid) ?? { residentBytes: running.reportedRssBytes, cpuMs: null };
	}

	/**
	 * Starts the child if none runs. Callers share one start.
	 * @throws {EngineError}
	 */
	async start(): Promise<Ready> {
		this.#lastUseAt = performance.now();
		if (this.#closed) throw new EngineError("stopped", `The ${this.#options.name} engine is shut down`);
		if (this.#ready) return this.#ready.value;
		this.#starting ??= this.#startAfterBackoff().finally(() => {
			this.#starting = null;
		});
		return this.#starting;
	}

	/** Sends work to a ready child; returns false if there is none. */
	send(work: unknown): boolean {
		this.#lastUseAt = performance.now();
		return this.#ready !== null && this.#tell({ type: "work", work, piped: [] });
	}

	/** Sends work with large bytes; settles when the child has read them, or has ended. One at a time. */
	async sendLarge(work: unknown): Promise<boolean> {
		const running = this.#running;
		if (running === null) return false;
		const { rest, piped, bytes } = takeOutBytes(work);
		const isSent =
			this.#ready !== null &&
			this.#tell({ type: "work", work: rest, piped }) &&
			(await writeBytes(bytes, running.child.stdin).then(
				() => true,
				() => false,
			));
		this.#lastUseAt = performance.now();
		// A pipe breaks a moment before the exit is reported.
		if (!isSent) await running.exited;
		return isSent;
	}

	/** Kills the child at once. The next start is not delayed. */
	async kill(reason: string): Promise<void> {
		const running = this.#running;
		if (!running) return;
		this.#log.warn({ engine: this.#options.name, reason }, "engine killed");
		running.endRequested = true;
		this.#record.kills++;
		this.#ready = null;
		endTree(running.child.pid);
		await running.exited;
	}

	/** Ends the child for good: no later call starts it again. */
	async close(): Promise<void> {
		this.#closed = true;
		await this.#stopChild();
		this.forget();
	}

	/** Removes it from the list of running processes, because another has replaced it. */
	forget(): void {
		this.#record.processes.delete(this);
	}

	async #stopChild(): Promise<void> {
		const running = this.#running;
		if (!running) return;
		running.endRequested = true;
		// Later callers of `start` get a new child, not this one's address.
		this.#ready = null;
		if (!this.#tell({ type: "stop" })) endTree(running.child.pid);
		const late = setTimeout(() => endTree(running.child.pid), STOP_PATIENCE_MS);
		await running.exited;
		clearTimeout(late);
	}

	async #startAfterBackoff(): Promise<Ready> {
		const waitMs = this.#nextStartAt - performance.now();
		if (waitMs > MAX_START_WAIT_MS)
			throw new EngineError(
				"backing-off",
				`The ${this.#options.name} engine failed and starts again later`,
				Math.ceil(waitMs / 1000),
			);
		if (waitMs > 0) await sleep(waitMs);
		// A child that was stopped may not have exited yet.
		await this.#running?.exited;
		const init = await this.#options.init();
		if (this.#closed) throw new EngineError("stopped", `The ${this.#options.name} engine is shut down`);
		return this.#launch(init);
	}

	async #launch(init: unknown): Promise<Ready> {
		const { name, startLimitMs = 60_000 } = this.#options;
		const startedAt = performance.now();
		const { promise, resolve, reject } = Promise.withResolvers<unknown>();
		const running = this.#spawn({ resolve, reject });
		this.#record.starts++;
		this.#running = running;
		this.#watch = setInterval(() => void this.#checkHealth(running), this.#options.watchEveryMs ?? 1_000);
		this.#watch.unref();
		const unwatch = this.watchWork({ workMs: startLimitMs }, (excess) => {
			const why = excess === "work" ? `was not ready after ${startLimitMs / 1_000} s of work` : "stood still while it started";
			reject(new EngineError("start-failed", `The ${name} engine ${why}`));
			endTree(running.child.pid);
		});
		try {
			this.#tell({ type: "init", init });
			const value = this.#options.parseReady(await promise);
			this.#ready = { value };
			this.#lastUseAt = performance.now();
			this.#log.info({ engine: name, pid: running.child.pid, tookMs: Math.round(this.#lastUseAt - startedAt) }, "engine ready");
			return value;
		} catch (fault) {
			endTree(running.child.pid);
			await running.exited;
			if (fault instanceof EngineError) throw fault;
			throw new EngineError("start-failed", `The ${name} engine: ${fault instanceof Error ? fault.message : fault}`);
		} finally {
			unwatch();
		}
	}

	#spawn(settleReady: Running["settleReady"]): Running {
		const { name, entry, env, maxMemoryMb } = this.#options;
		const child = Bun.spawn([process.execPath, "--no-env-file", entry], {
			env: { ...childEnvironment(), ...env },
			stdio: ["pipe", "pipe", "pipe", "pipe"],
			serialization: "advanced",
			ipc: (message: FromChild) => this.#hear(running, message),
		});
		const unbound = boundMemory(child.pid, maxMemoryMb * 2 ** 20);
		for (const stream of ["stdout", "stderr"] as const)
			drainToLog(child[stream], this.#log, { engine: name, stream }).catch((err) =>
				this.#log.warn({ err }, "engine output lost"),
			);
		const now = performance.now();
		const running: Running = {
			child,
			outputFd: child.stdio[OUTPUT_FD] as unknown as number,
			output: null,
			startedAt: now,
			exited: child.exited.then(() => {
				unbound();
				this.#onExited(running);
			}),
			silence: null,
			reportedRssBytes: 0,
			endRequested: false,
			settleReady,
		};
		return running;
	}

	#tell(message: ToChild): boolean {
		try {
			this.#running?.child.send(message);
			return this.#running !== null;
		} catch {
			// The channel closes a moment before the exit is reported.
			return false;
		}
	}

	#hear(running: Running, message: FromChild): void {
		if (message.type === "ready") running.settleReady.resolve(message.ready);
		else if (message.type === "failed") running.settleReady.reject(new EngineError("start-failed", message.text));
		else if (message.type === "done" && message.piped.length > 0) this.#readPiped(running, message.done, message.piped);
		else if (message.type === "done") this.#options.onDone?.(message.done);
		else {
			running.silence = null;
			running.reportedRssBytes = message.rssBytes;
			if (message.busy) this.#lastUseAt = performance.now();
		}
	}

	/** Reads an answer whose large bytes come through the pipe. If they are incomplete, the child has ended. */
	#readPiped(running: Running, rest: unknown, piped: readonly PipedBytes[]): void {
		running.output ??= new BytePipe(running.outputFd);
		running.output
			.putBack(rest, piped)
			.then((done) => this.#options.onDone?.(done))
			.catch((err: unknown) => this.#log.warn({ engine: this.#options.name, err }, "an engine's answer is lost"));
	}

	#onExited(running: Running): void {
		const { name, firstBackoffMs = 1_000 } = this.#options;
		clearInterval(this.#watch);
		const closing = running.output?.close() ?? Promise.resolve();
		// The reader has already reported an error of the pipe.
		void closing.catch(() => {}).then(() => closeSync(running.outputFd));
		this.#running = null;
		this.#ready = null;
		const { exitCode, signalCode } = running.child;
		if (!running.endRequested) {
			this.#record.crashes++;
			const sound = performance.now() - running.startedAt > SOUND_AFTER_MS;
			this.#crashes = sound ? 1 : this.#crashes + 1;
			const waitMs = this.#crashes === 1 ? 0 : Math.min(firstBackoffMs * 2 ** (this.#crashes - 2), MAX_BACKOFF_MS);
			this.#nextStartAt = performance.now() + waitMs;
			this.#log.error({ engine: name, exitCode, signalCode, crashes: this.#crashes, waitMs }, "engine ended unexpectedly");
		}
		running.settleReady.reject(
			new EngineError("exited", `The ${name} engine ended while it started (${signalCode ?? `code ${exitCode}`})`),
		);
		this.#options.onExit?.();
	}

	/** Checks memory, response and idleness. */
	async #checkHealth(running: Running): Promise<void> {
		const { name, maxMemoryMb, idleStopMs, unresponsiveMs = 30_000 } = this.#options;
		if (this.#running !== running || running.endRequested) return;
		const { residentBytes, cpuMs } = this.#usage(running) ?? { residentBytes: 0, cpuMs: null };
		if (residentBytes > maxMemoryMb * 2 ** 20) {
			this.#log.error(
				{ engine: name, rssMb: Math.round(residentBytes / 2 ** 20), maxMemoryMb },
				"engine killed: too much memory",
			);
			endTree(running.child.pid);
			return;
		}
		// The start limit covers a child that is still loading.
		if (!this.#ready) return;
		const now = performance.now();
		const excess = running.silence?.look(now, cpuMs) ?? null;
		if (excess !== null) {
			this.#log.error({ engine: name, unresponsiveMs, excess }, "engine killed: no sign of life");
			endTree(running.child.pid);
			return;
		}
		if (idleStopMs !== null && now - this.#lastUseAt > idleStopMs) {
			this.#log.info({ engine: name }, "engine stopped: idle");
			await this.#stopChild();
			return;
		}
		if (running.silence !== null || !this.#tell({ type: "ping" })) return;
		running.silence = new WorkMeter(unresponsiveMs, now, cpuMs);
	}
}
