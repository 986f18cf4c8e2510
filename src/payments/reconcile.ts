import type { X402Config } from "../config/index.ts";
import { isOpen, type TopUp, type TopUpKey } from "../store/admin/top-ups/top-up-row.ts";
import { sleep, type Timers } from "../telemetry/clock.ts";
import type { PaymentChain } from "./chain/payment-chain.ts";
import { chainsOf } from "./create-top-ups.ts";
import { signedOf } from "./payment.ts";

/** A payment whose row and chain disagree, or whose chain gives no answer. */
export interface Discrepancy {
	readonly paymentId: string;
	readonly network: string;
	readonly payer: string;
	/** State in the books. */
	readonly state: TopUp["state"];
	/** What the chain shows, in words. */
	readonly finding: string;
	readonly transaction: string | null;
}

export interface ReconcileReport {
	/** Payments of each state that were compared with the chain. */
	readonly checked: Readonly<Record<TopUp["state"], number>>;
	/** Credited base units of the token, by network. */
	readonly credited: Readonly<Record<string, number>>;
	readonly discrepancies: readonly Discrepancy[];
}

/** Reads rows from the store: in pages, and the current version of one. */
export interface TopUpRows {
	list(page: { readonly after: string; readonly limit: number }): Promise<readonly TopUp[]>;
	find(key: TopUpKey): Promise<TopUp | null>;
}

const PAGE = 200;
/** Payments that a running server is settling are read again at this interval, a limited number of times. */
const LOOK_AGAIN_MS = 250;
const LOOKS = 40;

/**
 * Compares every payment with the chain, and changes nothing. A credited one must have its transfer, a failed one
 * must have none. A difference is read once more, and waited for while a server settles that payment. Throws
 * `ChainUnavailable` where a chain does not answer, `WrongChain` where it is another one.
 */
export async function reconcile(config: X402Config, rows: TopUpRows, timers: Timers): Promise<ReconcileReport> {
	const chains = new Map(chainsOf(config, timers).map((chain) => [chain.network.id, chain]));
	for (const chain of chains.values()) await chain.check();
	const checked = { settling: 0, unknown: 0, credited: 0, failed: 0 };
	const credited: Record<string, number> = {};
	const discrepancies: Discrepancy[] = [];
	for (let after = ""; ; ) {
		const page = await rows.list({ after, limit: PAGE });
		for (const listedRow of page) {
			const { row, finding } = await settledFinding(listedRow, chains.get(listedRow.network), rows, timers);
			checked[row.state]++;
			if (row.state === "credited") credited[row.network] = (credited[row.network] ?? 0) + row.units;
			const { id: paymentId, network, payer, state, transaction } = row;
			if (finding !== null) discrepancies.push({ paymentId, network, payer, state, finding, transaction });
		}
		const last = page.at(-1);
		if (last === undefined || page.length < PAGE) return { checked, credited, discrepancies };
		after = last.id;
	}
}

/** Returns the finding and the row at the time when the difference, or its absence, was final. */
async function settledFinding(
	listedRow: TopUp,
	chain: PaymentChain | undefined,
	rows: TopUpRows,
	timers: Timers,
): Promise<{ readonly row: TopUp; readonly finding: string | null }> {
	let row = listedRow;
	let finding = await findingOf(row, chain);
	for (let look = 0; finding !== null && look < LOOKS; look++) {
		const now = (await rows.find(row)) ?? row;
		const hasChanged = now.state !== row.state || now.transaction !== row.transaction;
		if (!hasChanged && now.state !== "settling") break;
		if (!hasChanged) await sleep(timers, LOOK_AGAIN_MS);
		row = now;
		finding = await findingOf(row, chain);
	}
	return { row, finding };
}

/** Returns null if books and chain agree. */
async function findingOf(row: TopUp, chain: PaymentChain | undefined): Promise<string | null> {
	if (chain === undefined) return "its network has no node in the configuration";
	const use = await chain.use(signedOf(row.proof), row.transaction, row.fromBlock);
	if (row.state === "credited") {
		if (use.kind !== "transferred") return `the chain shows no transfer for it (${use.kind})`;
		// Another transaction than the recorded one is fine too: the chain reverted that, and the payment was sent again.
		return null;
	}
	if (use.kind === "transferred") return `the chain shows a transfer that is not credited: ${use.transfer.transaction}`;
	return isOpen(row) && use.kind !== "unused" ? `its end is known and not booked yet (${use.kind})` : null;
}
