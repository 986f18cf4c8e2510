import type { Migration } from "../core/migration.ts";

/**
 * Firing alerts, so that one of several nodes reports each: `owner` saw it last, at `seen_at`; when the owner falls
 * silent, another node takes it over. `told`: a webhook has accepted the notice.
 */
export const alerts: Migration = {
	number: 14,
	name: "alerts",
	steps: [
		`
CREATE TABLE alerts (
	name TEXT NOT NULL PRIMARY KEY,
	owner TEXT NOT NULL,
	raised_at INTEGER NOT NULL,
	seen_at INTEGER NOT NULL,
	told INTEGER NOT NULL CHECK (told IN (0, 1))
) STRICT;
`,
	],
};
