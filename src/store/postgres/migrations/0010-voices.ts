import type { Migration } from "../../core/migration.ts";

/** Voices that callers brought, and their samples in parts, as on SQLite. */
export const voices: Migration = {
	number: 10,
	name: "voices",
	sql: `
CREATE TABLE voices (
	id TEXT NOT NULL PRIMARY KEY,
	owner TEXT NOT NULL,
	model_id TEXT NOT NULL,
	sample_format TEXT NOT NULL,
	sample_bytes BIGINT NOT NULL CHECK (sample_bytes > 0),
	sliding_ms BIGINT NOT NULL CHECK (sliding_ms >= 0),
	upstream_voices TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL
);
CREATE INDEX voices_by_owner ON voices (owner, created_at);
CREATE INDEX voices_by_expiry ON voices (expires_at);

CREATE TABLE voice_sample_parts (
	voice_id TEXT NOT NULL,
	part BIGINT NOT NULL CHECK (part >= 0),
	body BYTEA NOT NULL,
	stored_at BIGINT NOT NULL,
	PRIMARY KEY (voice_id, part)
);
CREATE INDEX voice_sample_parts_by_age ON voice_sample_parts (stored_at);
`,
};
