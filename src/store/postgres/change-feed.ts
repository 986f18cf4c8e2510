/** Reads changes of other processes in the order of their commits: writers of `changes` rows are serialised. */
import type { SQL } from "bun";
import { reloadOf } from "../admin/changes.ts";
import type { StoreChange } from "../types.ts";

/** Most rows of one read; the next one continues. */
const MAX_ROWS = 1_000;

export class ChangeFeed {
	#seenId: bigint;

	private constructor(seenId: bigint) {
		this.#seenId = seenId;
	}

	/** Starts behind the existing changes: a start reads everything anew anyway. */
	static async begin(sql: SQL): Promise<ChangeFeed> {
		return new ChangeFeed(await lastId(sql));
	}

	/**
	 * Returns the changes since the last call, in order. After a failover that lost some, it continues from the
	 * existing ones.
	 */
	async poll(sql: SQL): Promise<StoreChange[]> {
		const changes: StoreChange[] = [];
		for (;;) {
			const rows = await sql.unsafe("SELECT id, kind, account_id, key_id, hash FROM changes WHERE id > $1 ORDER BY id LIMIT $2", [
				this.#seenId,
				MAX_ROWS,
			]);
			for (const row of rows) {
				changes.push(changeOf(row));
				this.#seenId = row.id;
			}
			if (rows.length === 0 && changes.length === 0) {
				const last = await lastId(sql);
				if (last < this.#seenId) this.#seenId = last;
			}
			if (rows.length < MAX_ROWS) return changes;
		}
	}
}

async function lastId(sql: SQL): Promise<bigint> {
	const [row] = await sql.unsafe("SELECT coalesce(max(id), 0) AS id FROM changes");
	return row.id;
}

function changeOf(row: Readonly<Record<string, string | null>>): StoreChange {
	const accountId = row.account_id ?? "";
	if (row.kind === "account") return { kind: "account", accountId };
	if (row.kind === "key") return { kind: "key", accountId, keyId: row.key_id ?? "", hash: row.hash ?? "" };
	return reloadOf(row.hash ?? null);
}
