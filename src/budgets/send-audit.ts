import type { Journal, SendEndRecord } from "../journal/records.ts";
import type { Clock } from "../telemetry/clock.ts";
import type { SendAudit, SendRow } from "./rpc-port.ts";

/** An outcome is a word or a code, never the text of an upstream. */
const MAX_OUTCOME_CHARACTERS = 100;

/** Writes the audit of sends into the journal, from which the store fills `rpc_sends`. */
export class JournalSendAudit implements SendAudit {
	readonly #journal: Journal;
	readonly #clock: Clock;

	constructor(journal: Journal, clock: Clock) {
		this.#journal = journal;
		this.#clock = clock;
	}

	async begin(rows: readonly SendRow[]): Promise<void> {
		const atMs = this.#clock.wallMs();
		await Promise.all(
			rows.map(({ requestId, item, caller, network, method, rawHash, txHash }) =>
				this.#journal.append({
					t: "send",
					requestId,
					item,
					accountId: caller.account.id,
					keyId: caller.wallet === null ? caller.key.id : null,
					network,
					method,
					rawHash: lower(rawHash),
					txHash: lower(txHash),
					atMs,
				}),
			),
		);
	}

	end(requestId: string, item: number, outcome: string, txHash: string | null): void {
		const outcomeText = outcome.replaceAll("\0", "").slice(0, MAX_OUTCOME_CHARACTERS);
		void this.#append({
			t: "send-end",
			requestId,
			item,
			outcome: outcomeText,
			txHash: lower(txHash),
			atMs: this.#clock.wallMs(),
		});
	}

	/** Appends without waiting: a journal that fails ends the process, and a closed one leaves the outcome unknown. */
	async #append(record: SendEndRecord): Promise<void> {
		try {
			await this.#journal.append(record);
		} catch {}
	}
}

/** Lower-cases a hash, since the text is what look-ups compare. */
function lower(hash: string | null): string | null {
	return hash === null ? null : hash.toLowerCase().replaceAll("\0", "");
}
