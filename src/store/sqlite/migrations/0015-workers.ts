import type { Migration } from "../../core/migration.ts";

/** Leases on keys' limits, as PostgreSQL has them since migration 11: several workers of a machine share this store. */
export const workers: Migration = {
	number: 15,
	name: "workers",
	sql: `
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
`,
};
