import { closeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Subprocess } from "bun";
import type { Log } from "../telemetry/log.ts";
import { BytePipe, OUTPUT_FD, type PipedBytes, takeOutBytes, writeBytes } from "./byte-pipe.ts";
import { boundMemory } from "./cgroup.ts";
import type { FromChild, ToChild } from "./child-messages.ts";
import { EngineError } from "./engine-error.ts";
import { type EngineRecord, engineRecord } from "./engine-records.ts";
import type { EngineState } from "./engine-state.ts";
import { drainToLog } from "./output-drain.ts";
import { endTree, treeUsage } from "./process-tree.ts";
import { type Excess, type WorkLimits, WorkMeter, type WorkUsage, watchWork } from "./work-meter.ts";

export interface EngineProcessOptions<Ready> {
	/** For the log. */
	readonly name: string;
	/** The child's entry file. */
	readonly entry: string;
	/** The child's first message; made anew for each start. Secrets go this way, never by argument or environment. */
	init(): Promise<unknown>;
	/** Reads the child's sign that it is ready; throws where it is not as expected. */
	parseReady(ready: unknown): Ready;
	/** An answer to `send`. */
	onDone?(done: unknown): void;
	/** For the child alone, beside what a program needs to run. Never secrets. */
	readonly env?: Readonly<Record<string, string>>;
	/** Called after each end of the process, wanted or not. */
	onExit?(): void;
	readonly log: Log;
	/** Work until it is ready, in processor time (`WorkMeter`). */
	readonly startLimitMs?: number;
	/** Resident memory of the child and of all that it starts, in MB, past which they are killed. */
	readonly maxMemoryMb: number;
	/** Without use for this long the child is stopped; null: never. */
	readonly idleStopMs: number | null;
	/** A child that works for this long without a sign of its event loop is killed, in processor time (`WorkMeter`). */
	readonly unresponsiveMs?: number;
	/** How often memory, life and idleness are looked at. */
	readonly watchEveryMs?: number;
	/** Wait before the second start after a crash (the first is at once); doubles up to a minute. */
	readonly firstBackoffMs?: number;
}

const MAX_BACKOFF_MS = 60_000;
/** A child that lived this long is taken as sound: its crash counts as the first. */
const SOUND_AFTER_MS = 60_000;
/** A caller waits this long for a start that is put off, and is refused beyond it. */
const PATIENCE_MS = 2_000;
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

/** The environment of a child: what a program needs to run, none of our settings or secrets. */
export function childEnvironment(): Record<string, string> {
	return Object.fromEntries(PASSED_ON.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}

interface Running {
	readonly child: Subprocess<"pipe", "pipe", "pipe">;
	/** Its end of the pipe from the child, which is ours to close. */
	readonly outputFd: number;
	/** Made when the first large bytes come. */
	output: BytePipe | null;
	readonly startedAt: number;
	readonly exited: Promise<void>;
	/** Since a sign of life was asked for; null where it has come. */
	silence: WorkMeter | null;
	reportedRssBytes: number;
	/** Set before we end it ourselves: such an end is no crash. */
	wanted: boolean;
	settleReady: { resolve(ready: unknown): void; reject(fault: EngineError): void };
}

/**
 * One engine in one child process: started at first use, restarted with growing waits, ended when it takes too
 * much memory, gives no sign of life or is idle. Its end never ends this process.
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

	/** Processor time of the child and of all that it started so far; null where none runs, or the system does not tell it. */
	get cpuMs(): number | null {
		return this.#usage()?.cpuMs ?? null;
	}

	/** Resident memory of the child and of all that it started, in bytes; null where none runs. */
	async rssBytes(): Promise<number | null> {
		return this.#usage()?.residentBytes ?? null;
	}

	/** Watches a piece of work of the child: see `watchWork`. The function that is returned ends the watch. */
	watchWork(limits: WorkLimits, onExcess: (excess: Excess) => void): () => void {
		return watchWork(() => this.#usage(), limits, onExcess);
	}

	#usage(running = this.#running): WorkUsage | null {
		if (!running) return null;
		return treeUsage(running.child.pid) ?? { residentBytes: running.reportedRssBytes, cpuMs: null };
	}

	/**
	 * Starts the child where none runs. Callers share one start.
	 * @throws EngineError
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

	/** Gives a piece of work to a child that is ready; false where there is none. */
	send(work: unknown): boolean {
		this.#lastUseAt = performance.now();
		return this.#ready !== null && this.#tell({ type: "work", work, piped: [] });
	}

	/** The same for work with large bytes; settles when the child has taken them, or has ended. One at a time. */
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
		// A pipe breaks a moment before the exit is seen.
		if (!isSent) await running.exited;
		return isSent;
	}

	/** Ends the child at once. The next start is not put off. */
	async kill(reason: string): Promise<void> {
		const running = this.#running;
		if (!running) return;
		this.#log.warn({ engine: this.#options.name, reason }, "engine killed");
		running.wanted = true;
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

	/** Takes it off the list of what runs here: another one has its place. */
	forget(): void {
		this.#record.processes.delete(this);
	}

	async #stopChild(): Promise<void> {
		const running = this.#running;
		if (!running) return;
		running.wanted = true;
		// Who calls `start` from now on gets a new child, not the address of this one.
		this.#ready = null;
		if (!this.#tell({ type: "stop" })) endTree(running.child.pid);
		const late = setTimeout(() => endTree(running.child.pid), STOP_PATIENCE_MS);
		await running.exited;
		clearTimeout(late);
	}

	async #startAfterBackoff(): Promise<Ready> {
		const waitMs = this.#nextStartAt - performance.now();
		if (waitMs > PATIENCE_MS)
			throw new EngineError(
				"backing-off",
				`The ${this.#options.name} engine failed and starts again later`,
				Math.ceil(waitMs / 1000),
			);
		if (waitMs > 0) await sleep(waitMs);
		// A child that was told to go may still be on its way out.
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
		this.#watch = setInterval(() => void this.#look(running), this.#options.watchEveryMs ?? 1_000);
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
				this.#gone(running);
			}),
			silence: null,
			reportedRssBytes: 0,
			wanted: false,
			settleReady,
		};
		return running;
	}

	#tell(message: ToChild): boolean {
		try {
			this.#running?.child.send(message);
			return this.#running !== null;
		} catch {
			// The channel closes a moment before the exit is seen.
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

	/** An answer whose large bytes come through the pipe. Where they do not come whole, the child has ended. */
	#readPiped(running: Running, rest: unknown, piped: readonly PipedBytes[]): void {
		running.output ??= new BytePipe(running.outputFd);
		running.output
			.putBack(rest, piped)
			.then((done) => this.#options.onDone?.(done))
			.catch((err: unknown) => this.#log.warn({ engine: this.#options.name, err }, "an engine's answer is lost"));
	}

	#gone(running: Running): void {
		const { name, firstBackoffMs = 1_000 } = this.#options;
		clearInterval(this.#watch);
		const closing = running.output?.close() ?? Promise.resolve();
		// What is wrong with the pipe was told by who read it.
		void closing.catch(() => {}).then(() => closeSync(running.outputFd));
		this.#running = null;
		this.#ready = null;
		const { exitCode, signalCode } = running.child;
		if (!running.wanted) {
			this.#record.crashes++;
			const sound = performance.now() - running.startedAt > SOUND_AFTER_MS;
			this.#crashes = sound ? 1 : this.#crashes + 1;
			const waitMs = this.#crashes === 1 ? 0 : Math.min(firstBackoffMs * 2 ** (this.#crashes - 2), MAX_BACKOFF_MS);
			this.#nextStartAt = performance.now() + waitMs;
			this.#log.error({ engine: name, exitCode, signalCode, crashes: this.#crashes, waitMs }, "engine ended by itself");
		}
		running.settleReady.reject(
			new EngineError("exited", `The ${name} engine ended while it started (${signalCode ?? `code ${exitCode}`})`),
		);
		this.#options.onExit?.();
	}

	/** Memory, life, idleness. */
	async #look(running: Running): Promise<void> {
		const { name, maxMemoryMb, idleStopMs, unresponsiveMs = 30_000 } = this.#options;
		if (this.#running !== running || running.wanted) return;
		const { residentBytes, cpuMs } = this.#usage(running) ?? { residentBytes: 0, cpuMs: null };
		if (residentBytes > maxMemoryMb * 2 ** 20) {
			this.#log.error(
				{ engine: name, rssMb: Math.round(residentBytes / 2 ** 20), maxMemoryMb },
				"engine killed: too much memory",
			);
			endTree(running.child.pid);
			return;
		}
		// A child that still loads is watched by its start limit.
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
