import { type Migration, onPostgres } from "../core/migration.ts";

/**
 * The part of a key's limits that each node may spend without calling the store, by the UTC day of the requests. The
 * rest of a limit is the limit, less what its window's days have in `usage_daily`, less their rows here.
 *
 * `unit`: `usd` (includes bundled credit) or `diem`. `amount`: leased and not yet applied.
 */
export const CAP_LEASES = `
CREATE TABLE cap_leases (
	node_id TEXT NOT NULL,
	epoch INTEGER NOT NULL,
	account_id TEXT NOT NULL,
	key_id TEXT NOT NULL REFERENCES keys (id),
	unit TEXT NOT NULL CHECK (unit = 'usd' OR unit = 'diem'),
	day INTEGER NOT NULL CHECK (day >= 0),
	amount INTEGER NOT NULL CHECK (amount >= 0),
	PRIMARY KEY (node_id, epoch, account_id, key_id, unit, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX cap_leases_of_key ON cap_leases (key_id, day);
`;

/** SQLite gets the table in migration 15: until then its one node knew all that a key spends. */
export const capLeases: Migration = { number: 11, name: "cap-leases", steps: [{ postgres: onPostgres(CAP_LEASES) }] };
