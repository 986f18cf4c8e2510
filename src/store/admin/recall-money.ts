/**
 * Recalls money: only free money can be taken back, so nodes are told to return what they have leased and do not
 * need.
 */
import { noteChange } from "./changes.ts";
import { AdminError } from "./errors.ts";
import type { AdminStore } from "./open-admin.ts";

/** How long the operator's changes wait for money that running servers must return first. */
export const LEASED_PATIENCE_MS = 5_000;
/** At each notice of a change a node returns what none of its requests holds. */
const ASK_AGAIN_MS = 500;
const LEASED_RETRY_MS = 20;

/** Tells all nodes to return what they have leased of an account and do not need. */
export async function recallMoney(admin: AdminStore, { accountId }: { readonly accountId: string }): Promise<void> {
	await admin.db.transaction().execute((tx) => noteChange(tx, { kind: "account", accountId, takesBack: true }, admin.wallMs()));
}

/**
 * Tries a change that takes money back, and recalls leased money (`recall`), for at most `patienceMs`; then rejects with
 * `AdminError` (MONEY_LEASED). The store thread itself must not call it, since nodes return money through that
 * thread.
 */
export async function waitForMoney<T>(attempt: () => Promise<T>, recall: () => Promise<void>, patienceMs: number): Promise<T> {
	const deadlineMs = performance.now() + patienceMs;
	let recalledMs = Number.NEGATIVE_INFINITY;
	for (;;) {
		try {
			return await attempt();
		} catch (error) {
			const leased = error instanceof AdminError && error.code === "MONEY_LEASED";
			if (!leased || performance.now() >= deadlineMs) throw error;
		}
		if (performance.now() - recalledMs >= ASK_AGAIN_MS) {
			recalledMs = performance.now();
			await recall();
		}
		await Bun.sleep(LEASED_RETRY_MS);
	}
}
