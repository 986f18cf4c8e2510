import { join } from "node:path";
import Type, { type Static } from "typebox";
import Value from "typebox/value";
import { FairQueue, PartyCapacity } from "../../fairness/index.ts";
import type { Log } from "../../telemetry/log.ts";
import { EngineProcess } from "../process.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import { textTurns } from "./text-pieces.ts";

export interface TokenCounterOptions {
	readonly log: Log;
	/** Processor time of one count. */
	readonly limitMs?: number;
	/** The number of waiting texts, and of their characters together; each tenant has a share of both. */
	readonly maxWaiting?: number;
	readonly maxWaitingChars?: number;
	readonly idleStopMs?: number;
	/** The child's entry file. */
	readonly entry?: string;
}

/** Added to the child's own limit: a child that exceeds both is stuck. */
const GRACE_MS = 250;
/** The import is slow on a busy machine; after this time the estimate is used. */
const START_LIMIT_MS = 20_000;
const MAX_MEMORY_MB = 700;

const Counted = Type.Object({
	id: Type.Integer(),
	tokens: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
	workMs: Type.Number({ minimum: 0 }),
});
type Count = Pick<Static<typeof Counted>, "tokens" | "workMs">;

const NO_COUNT: Count = { tokens: null, workMs: 0 };

/** A count is short, so it is never aborted. */
const NEVER = new AbortController().signal;

class TooManyTexts extends Error {}

/**
 * Counts o200k_base tokens in a child process, one text (or part of a long one) at a time; tenants take turns. It never throws:
 * it returns the estimate if the text takes too long, too many wait, or the child cannot run.
 */
export class TokenCounter {
	readonly #process: EngineProcess<null>;
	readonly #limitMs: number;
	readonly #log: Log;
	readonly #gate: FairQueue;
	readonly #chars: PartyCapacity;
	#nextId = 0;
	#answer: { readonly id: number; resolve(count: Count): void } | null = null;

	constructor(options: TokenCounterOptions) {
		this.#log = options.log;
		this.#limitMs = options.limitMs ?? 1_000;
		const maxWaiting = options.maxWaiting ?? 512;
		this.#gate = new FairQueue({ places: 1, reserve: false, maxWaiting, overflow: () => new TooManyTexts() });
		this.#chars = new PartyCapacity(options.maxWaitingChars ?? 64 * 2 ** 20);
		this.#process = new EngineProcess({
			name: "tokens",
			entry: options.entry ?? join(import.meta.dir, "child.ts"),
			init: async () => null,
			parseReady: () => null,
			onDone: (done) => this.#onDone(done),
			onExit: () => this.#answer?.resolve(NO_COUNT),
			log: options.log,
			startLimitMs: START_LIMIT_MS,
			maxMemoryMb: MAX_MEMORY_MB,
			idleStopMs: options.idleStopMs ?? 600_000,
		});
	}

	/**
	 * Returns the tokens of a text: exact, or bytes / 3.
	 * @param tenant in whose turn it is counted
	 */
	async countTokens(text: string, tenant: string): Promise<number> {
		if (text === "") return 0;
		if (this.#chars.take(tenant, text.length) !== "taken") return estimateTokens(text);
		try {
			return (await this.#countInTurns(text, tenant)) ?? estimateTokens(text);
		} catch (fault) {
			if (!(fault instanceof TooManyTexts)) this.#log.warn({ err: fault }, "a count failed");
			return estimateTokens(text);
		} finally {
			this.#chars.giveBack(tenant, text.length);
		}
	}

	/** Starts the child before the first count. */
	async warm(): Promise<void> {
		await this.#process.start().catch((err: unknown) => this.#log.warn({ err }, "token counter does not start"));
	}

	/** Returns the child's resident memory in bytes; null if it does not run. */
	rssBytes(): Promise<number | null> {
		return this.#process.rssBytes();
	}

	get pid(): number | null {
		return this.#process.pid;
	}

	/** Stops the child for good; later counts are estimates. */
	stop(): Promise<void> {
		return this.#process.close();
	}

	/** Counts a long text in parts, each in a turn of its own. */
	async #countInTurns(text: string, tenant: string): Promise<number | null> {
		let sum = 0;
		let leftMs = this.#limitMs;
		for (const part of textTurns(text)) {
			const { tokens, workMs } = await this.#gate.run({ tenant, signal: NEVER }, () => this.#count(part, leftMs));
			leftMs -= workMs;
			if (tokens === null) return null;
			sum += tokens;
		}
		return sum;
	}

	async #count(text: string, limitMs: number): Promise<Count> {
		try {
			await this.#process.start();
		} catch (err) {
			this.#log.warn({ err }, "token counter does not start");
			return NO_COUNT;
		}
		const id = this.#nextId++;
		const { promise, resolve } = Promise.withResolvers<Count>();
		this.#answer = { id, resolve };
		if (!this.#process.send({ id, text, limitMs })) return NO_COUNT;
		const unwatch = this.#process.watchWork({ workMs: Math.max(0, limitMs) + GRACE_MS }, () => {
			void this.#process.kill("a count took too long");
		});
		const count = await promise;
		unwatch();
		this.#answer = null;
		return count;
	}

	#onDone(done: unknown): void {
		const { id, ...count } = Value.Parse(Counted, done);
		if (this.#answer?.id === id) this.#answer.resolve(count);
	}
}
