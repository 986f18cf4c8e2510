import type { Migration } from "../../core/migration.ts";

/** Voices as upstreams keep them, as on SQLite. */
export const upstreamVoices: Migration = {
	number: 13,
	name: "upstream-voices",
	sql: `
ALTER TABLE voices DROP COLUMN upstream_voices;

CREATE TABLE upstream_voices (
	voice_id TEXT NOT NULL,
	upstream TEXT NOT NULL,
	name TEXT,
	claim TEXT NOT NULL,
	claimed_until BIGINT NOT NULL,
	PRIMARY KEY (voice_id, upstream)
);
`,
};
