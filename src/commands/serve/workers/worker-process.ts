import { type FromWorker, JOINS_VARIABLE, type ToWorker, WORKER_VARIABLE } from "./messages.ts";

/** A worker that answers no ping for this long stands still: it is ended, so that its leases and connections are free. */
const PING_EVERY_MS = 5_000;
const MAX_UNANSWERED = 6;

export interface WorkerProcessDeps {
	readonly number: number;
	/** True where other workers serve already. */
	readonly joins: boolean;
	/** Arguments of the program. */
	readonly args: readonly string[];
	readonly received: (message: FromWorker) => void;
	readonly exited: (exit: WorkerExit) => void;
	/** Called when the worker stands still, before it is killed. */
	readonly silent: () => void;
}

export interface WorkerExit {
	readonly code: number | null;
	readonly signal: NodeJS.Signals | number | null;
	/** How long the process ran. */
	readonly ranMs: number;
}

/** One run of a worker's process. */
export class WorkerProcess {
	readonly #child: Bun.Subprocess;
	readonly #pings: ReturnType<typeof setInterval>;
	#unanswered = 0;
	#running = true;

	constructor({ number, joins, args, received, exited, silent }: WorkerProcessDeps) {
		const startedAtMs = performance.now();
		this.#child = Bun.spawn([process.execPath, ...process.execArgv, Bun.main, ...args], {
			env: { ...process.env, [WORKER_VARIABLE]: String(number), [JOINS_VARIABLE]: joins ? "1" : "0" },
			stdio: ["ignore", "inherit", "inherit"],
			serialization: "advanced",
			ipc: (message: FromWorker) => {
				if (message.type === "pong") this.#unanswered = 0;
				else received(message);
			},
			onExit: (_child, code, _signal) => {
				this.#running = false;
				clearInterval(this.#pings);
				exited({ code, signal: this.#child.signalCode, ranMs: performance.now() - startedAtMs });
			},
		});
		this.#pings = setInterval(() => this.#ping(silent), PING_EVERY_MS);
	}

	get pid(): number {
		return this.#child.pid;
	}

	send(message: ToWorker): void {
		if (this.#running) this.#child.send(message);
	}

	kill(signal: NodeJS.Signals): void {
		if (this.#running) this.#child.kill(signal);
	}

	#ping(silent: () => void): void {
		if (this.#unanswered >= MAX_UNANSWERED) {
			silent();
			this.kill("SIGKILL");
			return;
		}
		this.#unanswered++;
		this.send({ type: "ping" });
	}
}
