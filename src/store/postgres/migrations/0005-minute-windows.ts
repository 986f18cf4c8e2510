import type { Migration } from "../../sqlite/migrate.ts";

/**
 * What all nodes together took of a minute: one row for each account and subject, with the window that is open or was
 * open last. Unlogged: a crash of the database forgets the counts of a minute, and no request waits for its disk.
 *
 * `started_at`: Unix milliseconds by this database's clock; the window lasts 60 s.
 * `taken`: requests given out to nodes. `tokens`: the sum of what nodes told.
 */
export const minuteWindows: Migration = {
	number: 5,
	name: "minute-windows",
	sql: `
CREATE UNLOGGED TABLE minute_windows (
	account_id TEXT NOT NULL,
	subject TEXT NOT NULL,
	started_at BIGINT NOT NULL,
	taken BIGINT NOT NULL CHECK (taken >= 0),
	tokens BIGINT NOT NULL CHECK (tokens >= 0),
	PRIMARY KEY (account_id, subject)
);
`,
};
