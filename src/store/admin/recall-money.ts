/** Money is taken back where it is free. What nodes have leased and do not need they give back when they are asked. */
import { noteChange } from "./changes.ts";
import { AdminError } from "./errors.ts";
import type { AdminStore } from "./open-admin.ts";

/** How long the operator's changes wait for money that running servers have to return first. */
export const LEASED_PATIENCE_MS = 5_000;
/** At each notice of a change a node returns what none of its requests holds. */
const ASK_AGAIN_MS = 500;
const LEASED_RETRY_MS = 20;

/** Asks all nodes for what they have leased of an account and do not need. */
export async function recallMoney(admin: AdminStore, { accountId }: { readonly accountId: string }): Promise<void> {
	await admin.db.transaction().execute((tx) => noteChange(tx, { kind: "account", accountId, takesBack: true }, admin.wallMs()));
}

/**
 * Tries a change that takes money back, asking for what is leased (`ask`), for `patienceMs` at most; then rejects with
 * `AdminError` (MONEY_LEASED). Not for the store thread itself: nodes return money through it.
 */
export async function waitForMoney<T>(attempt: () => Promise<T>, ask: () => Promise<void>, patienceMs: number): Promise<T> {
	const deadlineMs = performance.now() + patienceMs;
	let askedMs = Number.NEGATIVE_INFINITY;
	for (;;) {
		try {
			return await attempt();
		} catch (error) {
			const leased = error instanceof AdminError && error.code === "MONEY_LEASED";
			if (!leased || performance.now() >= deadlineMs) throw error;
		}
		if (performance.now() - askedMs >= ASK_AGAIN_MS) {
			askedMs = performance.now();
			await ask();
		}
		await Bun.sleep(LEASED_RETRY_MS);
	}
}
