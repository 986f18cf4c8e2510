/** Serves with several processes on one port: starts them, owns their store on SQLite, and starts each again that ends. */
import type { Config, ConfigFlags, LoadedConfig } from "../../../config/index.ts";
import { JOURNAL_DEFAULTS } from "../../../journal/index.ts";
import { freePort } from "../../../server/listen.ts";
import type { HostedWorker } from "../../../store/sqlite/hosted-worker.ts";
import type { WorkerStores } from "../../../store/worker-stores.ts";
import { systemTimers } from "../../../telemetry/clock.ts";
import { createLog, type Log } from "../../../telemetry/log.ts";
import { withStoreFaults } from "../../store-fault.ts";
import type { EarlySignals } from "../early-signals.ts";
import { openDataFolder } from "../open-store.ts";
import { recordServer, removeServerRecord } from "../running-server.ts";
import { exitOnConfigFault } from "../startup-errors.ts";
import { GatheredAnswers } from "./gathered-answers.ts";
import type { FromWorker } from "./messages.ts";
import { RestartDelay } from "./restart-delay.ts";
import { type WorkerExit, WorkerProcess } from "./worker-process.ts";

export interface SupervisorOptions {
	readonly flags: ConfigFlags;
	readonly loaded: LoadedConfig;
	readonly signals: EarlySignals;
	/** Number of processes. */
	readonly workers: number;
}

/** Runs the workers until a signal ends the server. Exit codes: those of `runServer`. */
export async function supervise({ flags, loaded, signals, workers }: SupervisorOptions): Promise<void> {
	const { config, places } = loaded;
	const log = createLog(config.log.level);
	await openDataFolder(config, log);
	const { host, port } = config.server;
	const free = await freePort(host, port).catch((error) =>
		exitOnConfigFault(places, () => {
			throw error;
		}),
	);
	const stores = config.store === undefined ? await withStoreFaults(config, () => openStores(config, workers)) : null;
	const supervisor = new Supervisor({ args: argumentsOf(flags, free), workers, stores, log, dataDir: config.data });
	signals.answerWith({ SIGHUP: () => supervisor.signal("SIGHUP"), SIGUSR2: () => supervisor.signal("SIGUSR2") });
	for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void supervisor.stop(signal));
	supervisor.start();
}

async function openStores({ data, journal }: Config, workers: number): Promise<WorkerStores> {
	const { WorkerStores } = await import("../../../store/worker-stores.ts");
	return WorkerStores.open({ dataDir: data, durability: journal.durability ?? JOURNAL_DEFAULTS.durability, workers });
}

function argumentsOf({ config, host, data }: ConfigFlags, port: number): string[] {
	const flag = (name: string, value: string | undefined) => (value === undefined ? [] : [name, value]);
	return ["serve", ...flag("--config", config), ...flag("--host", host), ...flag("--data", data), "--port", String(port)];
}

interface SupervisorDeps {
	/** The command line of a worker. */
	readonly args: readonly string[];
	readonly workers: number;
	/** The store on SQLite; null where each worker is a node of a PostgreSQL store. */
	readonly stores: WorkerStores | null;
	readonly log: Log;
	readonly dataDir: string;
}

/** One worker over all its runs. */
interface Worker {
	process: WorkerProcess;
	/** The store thread of the current run. */
	hosted: HostedWorker | null;
	serving: boolean;
	readonly restart: RestartDelay;
	/** Resolves when the current run has ended and its journal is applied. */
	ended: Promise<void>;
}

class Supervisor {
	readonly #deps: SupervisorDeps;
	readonly #workers = new Map<number, Worker>();
	readonly #answers = new GatheredAnswers(systemTimers);
	/** True from the time when the first worker served: the others start then, and from then on each is started again. */
	#started = false;
	#allServed = false;
	#stopping = false;

	constructor(deps: SupervisorDeps) {
		this.#deps = deps;
	}

	/** Starts the first worker. What keeps it from serving would keep all from it, and is reported once. */
	start(): void {
		this.#run(0, new RestartDelay());
	}

	signal(signal: NodeJS.Signals): void {
		for (const { process } of this.#workers.values()) process.kill(signal);
	}

	/** Ends all workers as they end by themselves, then the store, then this process with `code`. */
	async stop(signal: NodeJS.Signals, code = 0): Promise<void> {
		if (this.#stopping) return;
		this.#stopping = true;
		this.#deps.log.info({ signal, workers: this.#workers.size }, "stopping: the workers finish their requests");
		this.signal("SIGTERM");
		await Promise.all([...this.#workers.values()].map(({ ended }) => ended));
		await this.#deps.stores?.close();
		removeServerRecord(this.#deps.dataDir);
		process.exit(code);
	}

	#run(number: number, restart: RestartDelay): void {
		const { promise: ended, resolve } = Promise.withResolvers<void>();
		const worker: Worker = {
			hosted: this.#deps.stores?.worker(number, (message) => worker.process.send({ type: "store", message })) ?? null,
			serving: false,
			restart,
			ended,
			process: new WorkerProcess({
				number,
				joins: this.#started,
				args: this.#deps.args,
				received: (message) => this.#received(number, worker, message),
				exited: (exit) => void this.#exited(number, worker, exit).then(resolve),
				silent: () => this.#deps.log.error({ worker: number }, "a worker stands still and is ended"),
			}),
		};
		this.#workers.set(number, worker);
	}

	#received(number: number, worker: Worker, message: FromWorker): void {
		switch (message.type) {
			case "store":
				void worker.hosted?.receive(message.message);
				return;
			case "serving":
				worker.serving = true;
				this.#serving(message.url);
				return;
			case "answer":
				this.#answers.answered(message.id, { worker: number, answer: message.answer });
				return;
			case "gather":
				void this.#gather(worker, message);
		}
	}

	#serving(url: string): void {
		const { workers, dataDir, log } = this.#deps;
		if (!this.#started) {
			this.#started = true;
			recordServer(dataDir, url);
			for (let number = 1; number < workers; number++) this.#run(number, new RestartDelay());
		}
		const serving = [...this.#workers.values()].filter((worker) => worker.serving).length;
		if (this.#allServed || serving < workers) return;
		this.#allServed = true;
		log.info({ workers, url }, "all workers serve");
	}

	async #gather(worker: Worker, { id, question, input }: Extract<FromWorker, { type: "gather" }>): Promise<void> {
		const serving = [...this.#workers].filter(([, other]) => other.serving).map(([number]) => number);
		const answers = await this.#answers.gather(serving, (number, ask) =>
			this.#workers.get(number)?.process.send({ type: "ask", id: ask, question, input }),
		);
		worker.process.send({ type: "gathered", id, answers });
	}

	async #exited(number: number, worker: Worker, { code, signal, ranMs }: WorkerExit): Promise<void> {
		const { log } = this.#deps;
		worker.serving = false;
		this.#answers.ended(number);
		// What it left in its journal is applied at once: its leases are free, and the others see what it spent.
		await worker.hosted
			?.ended()
			.catch((error: Error) =>
				log.error({ worker: number, cause: error.message }, "the journal of a worker could not be applied yet"),
			);
		if (this.#stopping) return;
		if (!this.#started) {
			// The worker has written why.
			void this.stop("SIGTERM", code ?? 1);
			return;
		}
		const pauseMs = worker.restart.after(ranMs);
		log.error({ worker: number, code, signal, pauseMs }, "a worker has ended; it is started again");
		systemTimers.after(pauseMs, () => {
			if (!this.#stopping) this.#run(number, worker.restart);
		});
	}
}
