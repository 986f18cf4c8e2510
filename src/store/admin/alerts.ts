/** Alerts that stand, shared by all nodes: of each one node tells. */
import type { AdminStore } from "./open-admin.ts";

export interface CheckedRules {
	/** Who looks: a node. */
	readonly owner: string;
	/** Names of alerts that stand now, as this node sees it: `RULE SUBJECT`. */
	readonly standing: readonly string[];
	/** Rules that were looked at: alerts of other rules are left alone. */
	readonly rules: readonly string[];
	readonly nowMs: number;
	/** An alert that its owner has not seen for so long is taken over. */
	readonly staleMs: number;
}

export interface AlertChange {
	/** Names of alerts that this node has to tell of, and since when they stand. Told again and again until `markAlertDelivered`. */
	readonly raised: readonly { readonly name: string; readonly sinceMs: number }[];
	/** Of alerts that have ended: gone from the store with this answer. */
	readonly ended: readonly { readonly name: string; readonly sinceMs: number }[];
	/** Alerts of this node that stand, told or not. */
	readonly mine: number;
}

/** Alerts in all; what comes on top is not raised until others have ended. */
const MAX_ALERTS = 1_000;

/** Notes what stands, and answers what this node has to tell. */
export async function updateAlerts(admin: AdminStore, looked: CheckedRules): Promise<AlertChange> {
	const { owner, nowMs, staleMs, rules } = looked;
	const standing = new Set(looked.standing);
	return admin.db.transaction().execute(async (tx) => {
		const rows = await tx.selectFrom("alerts").selectAll().execute();
		const known = new Set(rows.map(({ name }) => name));
		for (const name of standing) {
			if (known.has(name) || known.size >= MAX_ALERTS) continue;
			known.add(name);
			await tx
				.insertInto("alerts")
				.values({ name, owner, raised_at: nowMs, seen_at: nowMs, told: 0 })
				// Another node may have seen it in the same moment: then it is that one's.
				.onConflict((conflict) => conflict.doNothing())
				.execute();
		}
		const mayHave = rows.filter((row) => row.owner === owner || Number(row.seen_at) < nowMs - staleMs);
		const seen = mayHave.filter(({ name }) => standing.has(name)).map(({ name }) => name);
		const over = mayHave.filter(({ name }) => !standing.has(name) && rules.includes(ruleOf(name)));
		if (seen.length > 0) await tx.updateTable("alerts").set({ owner, seen_at: nowMs }).where("name", "in", seen).execute();
		if (over.length > 0)
			await tx
				.deleteFrom("alerts")
				.where(
					"name",
					"in",
					over.map(({ name }) => name),
				)
				.execute();
		const mine = await tx.selectFrom("alerts").selectAll().where("owner", "=", owner).execute();
		const since = (row: { readonly name: string; readonly raised_at: bigint }) => ({
			name: row.name,
			sinceMs: Number(row.raised_at),
		});
		return {
			raised: mine.filter(({ told }) => told === 0n).map(since),
			// Also where nobody noted that it was told: a reader who waits for its end must hear of it.
			ended: over.map(since),
			mine: mine.length,
		};
	});
}

/** A webhook has taken the notice of this alert. */
export async function markAlertDelivered(admin: AdminStore, { name }: { readonly name: string }): Promise<void> {
	await admin.db.updateTable("alerts").set({ told: 1 }).where("name", "=", name).execute();
}

/** The rule of an alert's name. */
function ruleOf(name: string): string {
	const space = name.indexOf(" ");
	return space < 0 ? name : name.slice(0, space);
}
