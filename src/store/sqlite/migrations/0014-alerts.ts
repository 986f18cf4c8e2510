import type { Migration } from "../migrate.ts";

/**
 * Alerts that stand, so that one node of several tells of each: `owner` saw it last, at `seen_at`; when it falls silent
 * another takes it over. `told`: a webhook has taken the notice.
 */
export const alerts: Migration = {
	number: 14,
	name: "alerts",
	sql: `
CREATE TABLE alerts (
	name TEXT NOT NULL PRIMARY KEY,
	owner TEXT NOT NULL,
	raised_at INTEGER NOT NULL,
	seen_at INTEGER NOT NULL,
	told INTEGER NOT NULL CHECK (told IN (0, 1))
) STRICT;
`,
};
