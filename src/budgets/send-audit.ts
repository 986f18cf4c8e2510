import type { Journal, SendEndRecord } from "../journal/records.ts";
import type { Clock } from "../telemetry/clock.ts";
import type { SendAudit, SendRow } from "./rpc-port.ts";

/** An outcome is a word or a code, never an upstream's text. */
const MAX_OUTCOME_CHARACTERS = 100;

/** Writes the audit of sends into the journal; `rpc_sends` in the store is made from it. */
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
		const known = outcome.replaceAll("\0", "").slice(0, MAX_OUTCOME_CHARACTERS);
		void this.#append({ t: "send-end", requestId, item, outcome: known, txHash: lower(txHash), atMs: this.#clock.wallMs() });
	}

	/** Nobody waits for it: a journal that fails ends the process, one that is closed leaves the outcome unknown. */
	async #append(record: SendEndRecord): Promise<void> {
		try {
			await this.#journal.append(record);
		} catch {}
	}
}

/** Hashes are found by their text. */
function lower(hash: string | null): string | null {
	return hash === null ? null : hash.toLowerCase().replaceAll("\0", "");
}
