import type { Migration } from "../core/migration.ts";

/** The last requests of each account that a limit refused; new ones push out older ones. */
export const exceededLimits: Migration = {
	number: 2,
	name: "exceeded-limits",
	steps: [
		`
CREATE TABLE exceeded_limits (
	id INTEGER PRIMARY KEY,
	account_id TEXT NOT NULL REFERENCES accounts (id),
	key_id TEXT NOT NULL,
	model_id TEXT NOT NULL,
	tier TEXT NOT NULL,
	kind TEXT NOT NULL,
	exceeded_at INTEGER NOT NULL
) STRICT;
CREATE INDEX exceeded_limits_of_account ON exceeded_limits (account_id, id);
`,
	],
};
