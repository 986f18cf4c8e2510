import type { X402Config } from "../config/index.ts";
import { isOpen, type TopUp } from "../store/admin/top-ups/top-up-row.ts";
import type { Timers } from "../telemetry/clock.ts";
import type { PaymentChain } from "./chain/payment-chain.ts";
import { chainsOf } from "./create-top-ups.ts";
import { signedOf } from "./payment.ts";

/** A payment whose row and whose chain say different things, or whose chain cannot say. */
export interface Discrepancy {
	readonly paymentId: string;
	readonly network: string;
	readonly payer: string;
	/** What the books say. */
	readonly state: TopUp["state"];
	/** What the chain says, in words. */
	readonly finding: string;
	readonly transaction: string | null;
}

export interface ReconcileReport {
	/** Payments of each state that were held against the chain. */
	readonly checked: Readonly<Record<TopUp["state"], number>>;
	/** Base units of the token that are credited, by network. */
	readonly credited: Readonly<Record<string, number>>;
	readonly discrepancies: readonly Discrepancy[];
}

/** Pages of rows, as the store gives them. */
export type ListTopUps = (page: { readonly after: string; readonly limit: number }) => Promise<readonly TopUp[]>;

const PAGE = 200;

/**
 * Holds every payment against the chain, and changes nothing: a credited one must have its transfer, a failed one must
 * have none. Throws `ChainUnavailable` where a chain does not answer, `WrongChain` where it is another one.
 */
export async function reconcile(config: X402Config, list: ListTopUps, timers: Timers): Promise<ReconcileReport> {
	const chains = new Map(chainsOf(config, timers).map((chain) => [chain.network.id, chain]));
	for (const chain of chains.values()) await chain.check();
	const checked = { settling: 0, unknown: 0, credited: 0, failed: 0 };
	const credited: Record<string, number> = {};
	const discrepancies: Discrepancy[] = [];
	for (let after = ""; ; ) {
		const rows = await list({ after, limit: PAGE });
		for (const row of rows) {
			checked[row.state]++;
			if (row.state === "credited") credited[row.network] = (credited[row.network] ?? 0) + row.units;
			const finding = await findingOf(row, chains.get(row.network));
			const { id: paymentId, network, payer, state, transaction } = row;
			if (finding !== null) discrepancies.push({ paymentId, network, payer, state, finding, transaction });
		}
		const last = rows.at(-1);
		if (last === undefined || rows.length < PAGE) return { checked, credited, discrepancies };
		after = last.id;
	}
}

/** null where books and chain agree. */
async function findingOf(row: TopUp, chain: PaymentChain | undefined): Promise<string | null> {
	if (chain === undefined) return "its network has no node in the configuration";
	const use = await chain.use(signedOf(row.proof), row.transaction, row.fromBlock);
	if (row.state === "credited") {
		if (use.kind !== "transferred") return `the chain shows no transfer for it (${use.kind})`;
		const same = use.transfer.transaction === row.transaction && use.transfer.logIndex === row.logIndex;
		return same ? null : `the chain shows its transfer elsewhere: ${use.transfer.transaction}`;
	}
	if (use.kind === "transferred") return `the chain shows a transfer that is not credited: ${use.transfer.transaction}`;
	return isOpen(row) && use.kind !== "unused" ? `its end is known and not booked yet (${use.kind})` : null;
}
