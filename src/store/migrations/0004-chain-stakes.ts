import type { Migration } from "../core/migration.ts";

/**
 * Stakes that are read from a chain, and keys that a wallet creates for itself.
 *
 * `accounts.stake_source`: whether the operator set the stake, or it is read from the chain for the linked wallet;
 * such a reading counts from `chain_from_day` on, so that a wallet moved between accounts is paid once a day.
 * `diem_stakes.source`: a row of the operator counts until the next one, a row of the chain for its own day.
 * `stake_readings`: for each day the one block at which all stakes are read, and the node that reads them now.
 * `used_tokens`: tokens that were used, until they expire.
 */
export const chainStakes: Migration = {
	number: 4,
	name: "chain-stakes",
	steps: [
		`
ALTER TABLE accounts ADD COLUMN stake_source TEXT NOT NULL DEFAULT 'chain'
	CHECK (stake_source = 'operator' OR stake_source = 'chain');
ALTER TABLE accounts ADD COLUMN chain_from_day INTEGER NOT NULL DEFAULT 0;
UPDATE accounts SET stake_source = 'operator' WHERE id IN (SELECT account_id FROM diem_stakes);
ALTER TABLE diem_stakes ADD COLUMN source TEXT NOT NULL DEFAULT 'operator' CHECK (source = 'operator' OR source = 'chain');

CREATE TABLE stake_readings (
	day INTEGER NOT NULL PRIMARY KEY,
	origin TEXT NOT NULL,
	block INTEGER,
	block_hash TEXT CHECK ((block_hash IS NULL) = (block IS NULL)),
	reader TEXT NOT NULL,
	reader_until INTEGER NOT NULL,
	finished_at INTEGER
) STRICT;

CREATE TABLE used_tokens (
	id TEXT NOT NULL PRIMARY KEY,
	expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX used_tokens_by_expiry ON used_tokens (expires_at);
`,
	],
};
