import { join } from "node:path";
import Type from "typebox";
import Value from "typebox/value";
import { FairQueue, type Requester } from "../../fairness/index.ts";
import type { Log } from "../../telemetry/log.ts";
import { EngineProcess } from "../process.ts";

export interface SchemaCheckerOptions {
	readonly log: Log;
	/** Processor time of one check. */
	readonly limitMs?: number;
	/** The number of waiting checks; each tenant has a share. */
	readonly maxWaiting?: number;
	readonly idleStopMs?: number;
}

const START_LIMIT_MS = 20_000;
const MAX_MEMORY_MB = 500;

const Checked = Type.Object({ id: Type.Integer(), faults: Type.Union([Type.Array(Type.String()), Type.Null()]) });

class TooManyChecks extends Error {}

/**
 * Checks JSON values against callers' JSON Schemas (drafts up to 2020-12) in a child process, one after the other, tenants in
 * turns: a pattern can take a matcher hours, and a schema may call itself without end.
 */
export class SchemaChecker {
	readonly #process: EngineProcess<null>;
	readonly #limitMs: number;
	readonly #log: Log;
	readonly #gate: FairQueue;
	#nextId = 0;
	#answer: { readonly id: number; resolve(faults: readonly string[] | null): void } | null = null;

	constructor(options: SchemaCheckerOptions) {
		this.#log = options.log;
		this.#limitMs = options.limitMs ?? 1_000;
		const maxWaiting = options.maxWaiting ?? 512;
		this.#gate = new FairQueue({ places: 1, reserve: false, maxWaiting, overflow: () => new TooManyChecks() });
		this.#process = new EngineProcess({
			name: "schemas",
			entry: join(import.meta.dir, "child.ts"),
			init: async () => null,
			parseReady: () => null,
			onDone: (done) => {
				const { id, faults } = Value.Parse(Checked, done);
				if (this.#answer?.id === id) this.#answer.resolve(faults);
			},
			onExit: () => this.#answer?.resolve(null),
			log: options.log,
			startLimitMs: START_LIMIT_MS,
			maxMemoryMb: MAX_MEMORY_MB,
			idleStopMs: options.idleStopMs ?? 600_000,
		});
	}

	/**
	 * Returns the errors of the value as texts; empty if it is valid. null if unknown: the schema is invalid, its check exceeds
	 * the limit, too many wait, or the requester has left.
	 */
	async check(
		value: unknown,
		schema: Readonly<Record<string, unknown>>,
		requester: Requester,
	): Promise<readonly string[] | null> {
		try {
			return await this.#gate.run(requester, () => this.#check(value, schema));
		} catch (fault) {
			if (fault instanceof TooManyChecks || requester.signal.aborted) return null;
			throw fault;
		}
	}

	/** Stops the child for good. */
	stop(): Promise<void> {
		return this.#process.close();
	}

	async #check(value: unknown, schema: Readonly<Record<string, unknown>>): Promise<readonly string[] | null> {
		try {
			await this.#process.start();
		} catch (err) {
			this.#log.warn({ err }, "the check of schemas does not start");
			return null;
		}
		const id = this.#nextId++;
		const { promise, resolve } = Promise.withResolvers<readonly string[] | null>();
		this.#answer = { id, resolve };
		if (!this.#process.send({ id, value, schema })) return null;
		const unwatch = this.#process.watchWork({ workMs: this.#limitMs }, () => void this.#process.kill("a check took too long"));
		const faults = await promise;
		unwatch();
		this.#answer = null;
		return faults;
	}
}
