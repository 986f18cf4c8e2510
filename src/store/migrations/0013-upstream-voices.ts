import type { Migration } from "../core/migration.ts";

/**
 * Voices as upstreams keep them: `name` is the upstream's own, null while it is being created. The node that creates
 * it, or deletes it at the upstream, holds `claim` until `claimed_until` (0: nobody). A row whose voice is gone is an
 * upstream's voice that must be deleted there.
 */
export const upstreamVoices: Migration = {
	number: 13,
	name: "upstream-voices",
	steps: [
		`
ALTER TABLE voices DROP COLUMN upstream_voices;

CREATE TABLE upstream_voices (
	voice_id TEXT NOT NULL,
	upstream TEXT NOT NULL,
	name TEXT,
	claim TEXT NOT NULL,
	claimed_until INTEGER NOT NULL,
	PRIMARY KEY (voice_id, upstream)
) STRICT;
`,
	],
};
