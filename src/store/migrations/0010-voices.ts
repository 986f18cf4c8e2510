import type { Migration } from "../core/migration.ts";

/**
 * Voices that callers brought, and the samples that they are made from. `owner` is an account's id, or a wallet's
 * name where it has no account. `sliding_ms`: each use extends `expires_at` by this much; 0 leaves it unchanged.
 * `upstream_voices` is JSON: upstream -> its own name for the voice.
 *
 * A voice exists when its row does: parts of a sample without one were left by a crash, and are deleted by age.
 */
export const voices: Migration = {
	number: 10,
	name: "voices",
	steps: [
		`
CREATE TABLE voices (
	id TEXT NOT NULL PRIMARY KEY,
	owner TEXT NOT NULL,
	model_id TEXT NOT NULL,
	sample_format TEXT NOT NULL,
	sample_bytes INTEGER NOT NULL CHECK (sample_bytes > 0),
	sliding_ms INTEGER NOT NULL CHECK (sliding_ms >= 0),
	upstream_voices TEXT NOT NULL CHECK (json_valid(upstream_voices)),
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX voices_by_owner ON voices (owner, created_at);
CREATE INDEX voices_by_expiry ON voices (expires_at);

CREATE TABLE voice_sample_parts (
	voice_id TEXT NOT NULL,
	part INTEGER NOT NULL CHECK (part >= 0),
	body BLOB NOT NULL,
	stored_at INTEGER NOT NULL,
	PRIMARY KEY (voice_id, part)
) STRICT;
CREATE INDEX voice_sample_parts_by_age ON voice_sample_parts (stored_at);
`,
	],
};
