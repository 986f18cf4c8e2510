/** Firing alerts, shared by all nodes: one node reports each of them. */
import type { AdminStore } from "./open-admin.ts";

export interface CheckedRules {
	/** The node that checked its rules. */
	readonly owner: string;
	/** Names of alerts that fire now, as this node sees it: `RULE SUBJECT`. */
	readonly standing: readonly string[];
	/** Rules that were checked: alerts of other rules are left alone. */
	readonly rules: readonly string[];
	readonly nowMs: number;
	/** After this time without a sighting by its owner, another node takes an alert over. */
	readonly staleMs: number;
}

export interface AlertChange {
	/** Alerts that this node must report, and since when they fire. They are returned until `markAlertDelivered`. */
	readonly raised: readonly { readonly name: string; readonly sinceMs: number }[];
	/** Alerts that have ended: the store deletes them with this answer. */
	readonly ended: readonly { readonly name: string; readonly sinceMs: number }[];
	/** Firing alerts of this node, reported or not. */
	readonly mine: number;
}

/** Most alerts in all; others are not raised until some have ended. */
const MAX_ALERTS = 1_000;

/** Records which alerts fire, and returns what this node must report. */
export async function updateAlerts(admin: AdminStore, looked: CheckedRules): Promise<AlertChange> {
	const { owner, nowMs, staleMs, rules } = looked;
	const standing = new Set(looked.standing);
	return admin.db.transaction().execute(async (tx) => {
		const rows = await tx.selectFrom("alerts").selectAll().execute();
		const knownNames = new Set(rows.map(({ name }) => name));
		for (const name of standing) {
			if (knownNames.has(name) || knownNames.size >= MAX_ALERTS) continue;
			knownNames.add(name);
			await tx
				.insertInto("alerts")
				.values({ name, owner, raised_at: nowMs, seen_at: nowMs, told: 0 })
				// Another node may have seen it at the same moment: that node then owns it.
				.onConflict((conflict) => conflict.doNothing())
				.execute();
		}
		const mayHave = rows.filter((row) => row.owner === owner || Number(row.seen_at) < nowMs - staleMs);
		const stillFiring = mayHave.filter(({ name }) => standing.has(name)).map(({ name }) => name);
		const endedAlerts = mayHave.filter(({ name }) => !standing.has(name) && rules.includes(ruleOf(name)));
		if (stillFiring.length > 0)
			await tx.updateTable("alerts").set({ owner, seen_at: nowMs }).where("name", "in", stillFiring).execute();
		if (endedAlerts.length > 0)
			await tx
				.deleteFrom("alerts")
				.where(
					"name",
					"in",
					endedAlerts.map(({ name }) => name),
				)
				.execute();
		const mine = await tx.selectFrom("alerts").selectAll().where("owner", "=", owner).execute();
		const since = (row: { readonly name: string; readonly raised_at: bigint }) => ({
			name: row.name,
			sinceMs: Number(row.raised_at),
		});
		return {
			raised: mine.filter(({ told }) => told === 0n).map(since),
			// Ended alerts are included even where no delivery was recorded: a reader that waits for the end must learn of
			// it.
			ended: endedAlerts.map(since),
			mine: mine.length,
		};
	});
}

/** Records that a webhook has accepted the notice of this alert. */
export async function markAlertDelivered(admin: AdminStore, { name }: { readonly name: string }): Promise<void> {
	await admin.db.updateTable("alerts").set({ told: 1 }).where("name", "=", name).execute();
}

/** Returns the rule of an alert's name. */
function ruleOf(name: string): string {
	const space = name.indexOf(" ");
	return space < 0 ? name : name.slice(0, space);
}
