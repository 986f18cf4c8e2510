import type { Migration } from "../../core/migration.ts";

/** The SQLite migration of this number documents the columns. */
export const chainStakes: Migration = {
	number: 4,
	name: "chain-stakes",
	sql: `
ALTER TABLE accounts ADD COLUMN stake_source TEXT NOT NULL DEFAULT 'chain' CHECK (stake_source IN ('operator', 'chain'));
ALTER TABLE accounts ADD COLUMN chain_from_day BIGINT NOT NULL DEFAULT 0;
UPDATE accounts SET stake_source = 'operator' WHERE id IN (SELECT account_id FROM diem_stakes);
ALTER TABLE diem_stakes ADD COLUMN source TEXT NOT NULL DEFAULT 'operator' CHECK (source IN ('operator', 'chain'));

CREATE TABLE stake_readings (
	day BIGINT NOT NULL PRIMARY KEY,
	origin TEXT NOT NULL,
	block BIGINT,
	block_hash TEXT CHECK ((block_hash IS NULL) = (block IS NULL)),
	reader TEXT NOT NULL,
	reader_until BIGINT NOT NULL,
	finished_at BIGINT
);

CREATE TABLE used_tokens (
	id TEXT NOT NULL PRIMARY KEY,
	expires_at BIGINT NOT NULL
);
CREATE INDEX used_tokens_by_expiry ON used_tokens (expires_at);
`,
};
