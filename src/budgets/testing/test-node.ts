import { ApiError } from "../../errors/index.ts";
import { pico } from "../../ledger/nano.ts";
import { ManualClock } from "../../telemetry/clock.ts";
import { createBudgets, type NodeBudgets } from "../budgets.ts";
import type { Caller } from "../caller.ts";
import { IdleLeases } from "../idle-leases.ts";
import type { HoldContext, PostInput } from "../port.ts";
import { MemoryJournal } from "./memory-journal.ts";
import { MemoryStore } from "./memory-store.ts";

/** A node's budgets over an in-memory store, on a clock that does not move by itself. */
export interface TestNode {
	readonly clock: ManualClock;
	readonly journal: MemoryJournal;
	readonly store: MemoryStore;
	readonly budgets: NodeBudgets;
	/** Its ticks are triggered by the test. */
	readonly idleLeases: IdleLeases;
	/** A hold's context, admitted now. */
	context(more?: Partial<HoldContext>): HoldContext;
	/** The cached caller of a hash; fails the test where there is none. */
	caller(hash: string): Promise<Caller>;
}

export function testNode(options: { at?: string; failedRequests?: number; maxCallers?: number } = {}): TestNode {
	const clock = new ManualClock(options.at ?? "2026-03-10T12:00:00Z");
	const journal = new MemoryJournal();
	const store = new MemoryStore(journal);
	const idleLeases = new IdleLeases();
	idleLeases.stop();
	const budgets = createBudgets({
		idleLeases,
		store,
		journal,
		clock,
		failedRequests: () => options.failedRequests ?? 20,
		...(options.maxCallers === undefined ? {} : { maxCallers: options.maxCallers }),
	});
	let requests = 0;
	return {
		clock,
		journal,
		store,
		budgets,
		idleLeases,
		context: (more) => ({
			requestId: `request${++requests}`,
			route: "chat",
			model: "model",
			admittedAtMs: clock.wallMs(),
			...more,
		}),
		caller: async (hash) => {
			const caller = await budgets.caller(hash);
			if (caller === null) throw new Error(`no caller ${hash}`);
			return caller;
		},
	};
}

/** Returns a post of one line with this price in nano-USD. */
export function priced(nanoUsd: number): PostInput {
	return {
		lines: [{ sku: "sku", units: nanoUsd, picoPrice: pico(1000) }],
		usage: null,
		status: 200,
		upstream: "upstream",
	};
}

/** Returns the error that a function throws or rejects with; it must be an `ApiError`. */
export async function refused(run: () => unknown): Promise<ApiError> {
	try {
		await run();
	} catch (error) {
		if (error instanceof ApiError) return error;
		throw error;
	}
	throw new Error("it was not refused");
}

/** Lets all running work in memory end. */
export async function turns(count = 10): Promise<void> {
	for (let turn = 0; turn < count; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}
