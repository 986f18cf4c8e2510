import type { Migration } from "../core/migration.ts";

/**
 * Counts of all nodes in a minute: one row for each account and subject, with the current or last window. Unlogged: a
 * crash of the database loses the counts of a minute, and no request waits for its disk.
 *
 * `started_at`: Unix milliseconds by this database's clock; the window lasts 60 s. `taken`: requests granted to
 * nodes. `tokens`: the sum that nodes reported.
 */
export const minuteWindows: Migration = {
	number: 5,
	name: "minute-windows",
	steps: [
		{
			postgres: `
CREATE UNLOGGED TABLE minute_windows (
	account_id TEXT NOT NULL,
	subject TEXT NOT NULL,
	started_at BIGINT NOT NULL,
	taken BIGINT NOT NULL CHECK (taken >= 0),
	tokens BIGINT NOT NULL CHECK (tokens >= 0),
	PRIMARY KEY (account_id, subject)
);
`,
		},
	],
};
