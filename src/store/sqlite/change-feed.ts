/** Reads changes of other processes: SQLite reports cheaply that something changed, and the `changes` rows say what. */
import type { Database, Statement } from "bun:sqlite";
import { reloadOf, TAKES_BACK } from "../admin/changes.ts";
import type { StoreChange } from "../types.ts";

interface ChangeRow {
	readonly id: bigint;
	readonly kind: "account" | "key" | "reload";
	readonly account_id: string | null;
	readonly key_id: string | null;
	readonly hash: string | null;
}

/** Most rows of one read; the rest follows in the next. */
const MAX_ROWS = 1_000;

export class ChangeFeed {
	readonly #version: Statement<{ data_version: bigint }, []>;
	readonly #rows: Statement<ChangeRow, [bigint, number]>;
	#seenVersion: bigint;
	#seenId: bigint;
	#more = false;

	/** Starts behind the existing changes: a start reads everything anew anyway. */
	constructor(db: Database) {
		this.#version = db.prepare("PRAGMA data_version");
		this.#rows = db.prepare("SELECT id, kind, account_id, key_id, hash FROM changes WHERE id > ? ORDER BY id LIMIT ?");
		this.#seenVersion = this.#version.get()?.data_version ?? 0n;
		const last = db.query<{ id: bigint | null }, []>("SELECT max(id) AS id FROM changes").get();
		this.#seenId = last?.id ?? 0n;
	}

	/** Returns the changes since the last call, in order. */
	poll(): StoreChange[] {
		const version = this.#version.get()?.data_version ?? 0n;
		if (version === this.#seenVersion && !this.#more) return [];
		const rows = this.#rows.all(this.#seenId, MAX_ROWS);
		this.#seenVersion = version;
		this.#more = rows.length === MAX_ROWS;
		this.#seenId = rows.at(-1)?.id ?? this.#seenId;
		return rows.map(changeOf);
	}
}

function changeOf(row: ChangeRow): StoreChange {
	const accountId = row.account_id ?? "";
	if (row.kind === "account")
		return { kind: "account", accountId, ...(row.hash === TAKES_BACK ? { takesBack: true as const } : {}) };
	if (row.kind === "key") return { kind: "key", accountId, keyId: row.key_id ?? "", hash: row.hash ?? "" };
	return reloadOf(row.hash);
}
