import type { Migration } from "../core/migration.ts";

/**
 * Sessions of the console: `hash` is the sha256 of the session's secret, `key_hash` that of the key that signed in.
 * Also indexes for its lists, so that a page costs what it holds.
 */
export const consoleSessions: Migration = {
	number: 12,
	name: "console",
	steps: [
		`
CREATE TABLE console_sessions (
	hash TEXT NOT NULL PRIMARY KEY,
	key_hash TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX console_sessions_by_expiry ON console_sessions (expires_at);

CREATE INDEX keys_by_age ON keys (created_at, id);
CREATE INDEX top_ups_by_age ON top_ups (created_at, id);
CREATE INDEX usage_by_day ON usage_daily (day);
`,
	],
};
