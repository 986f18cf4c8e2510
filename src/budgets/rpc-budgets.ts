import type { Journal } from "../journal/records.ts";
import type { StorePort } from "../store/port.ts";
import { type Clock, systemTimers, type Timers } from "../telemetry/clock.ts";
import type { Log } from "../telemetry/log.ts";
import { AnswerFiles } from "./answer-files.ts";
import { StoreCreditWindow } from "./credit-window.ts";
import { NodeIdempotencyStore } from "./idempotency-store.ts";
import type { CreditWindow, IdempotencyStore, SendAudit } from "./rpc-port.ts";
import { RpcRetention } from "./rpc-retention.ts";
import { JournalSendAudit } from "./send-audit.ts";

export interface RpcBudgetsOptions {
	readonly store: StorePort;
	readonly journal: Journal;
	readonly clock: Clock;
	/** Default: those of the system. */
	readonly timers?: Timers;
	readonly log: Log;
	/** Folder of this node's data. */
	readonly dataDir: string;
	/** `rpc.sendsKeptDays` of the config now in force. */
	readonly sendsKeptDays: () => number;
}

/** The services of a node's budgets that the chain proxy uses beside holds. */
export interface RpcBudgets {
	readonly credits: CreditWindow;
	readonly idempotency: IdempotencyStore;
	readonly sends: SendAudit;
	/** Ends background work. Call before the store closes. */
	close(): Promise<void>;
}

/**
 * Assembles these services. Reads nothing but the folder of stored answers, from which it removes what a crash left.
 */
export function createRpcBudgets(options: RpcBudgetsOptions): RpcBudgets {
	const { store, journal, clock, timers = systemTimers, log, dataDir, sendsKeptDays } = options;
	const files = new AnswerFiles(dataDir);
	const sweep = new RpcRetention({ store, journal, clock, timers, files, sendsKeptDays });
	const idempotency = new NodeIdempotencyStore({
		store,
		journal,
		clock,
		timers,
		log,
		files,
		posted: (...file) => sweep.onPosted(...file),
	});
	const credits = new StoreCreditWindow({ store, clock, timers });
	return {
		credits,
		idempotency,
		sends: new JournalSendAudit(journal, clock),
		close: async () => {
			idempotency.close();
			credits.close();
			await sweep.close();
		},
	};
}
