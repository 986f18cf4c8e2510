import type { Migration } from "../../core/migration.ts";

/**
 * Payments of wallets for their balance, as on SQLite. `broadcast_turns`: which node may take the next nonce of a key
 * that several nodes send with.
 */
export const topUps: Migration = {
	number: 9,
	name: "top-ups",
	sql: `
CREATE TABLE top_ups (
	id TEXT NOT NULL PRIMARY KEY,
	network TEXT NOT NULL,
	asset TEXT NOT NULL,
	payer TEXT NOT NULL,
	nonce TEXT NOT NULL,
	pay_to TEXT NOT NULL,
	units BIGINT NOT NULL CHECK (units > 0),
	amount BIGINT NOT NULL CHECK (amount > 0),
	valid_before BIGINT NOT NULL,
	proof TEXT NOT NULL CHECK (proof::jsonb IS NOT NULL),
	state TEXT NOT NULL CHECK (state IN ('settling', 'unknown', 'credited', 'failed')),
	settler TEXT NOT NULL,
	settler_until BIGINT NOT NULL,
	from_block BIGINT NOT NULL,
	look_at BIGINT NOT NULL,
	transaction_hash TEXT,
	log_index BIGINT,
	block BIGINT,
	reason TEXT,
	account_id TEXT REFERENCES accounts (id),
	movement_id BIGINT UNIQUE REFERENCES movements (id),
	created_at BIGINT NOT NULL,
	ended_at BIGINT,
	UNIQUE (network, asset, payer, nonce),
	CHECK ((state = 'credited') = (movement_id IS NOT NULL)),
	CHECK (state <> 'credited' OR (account_id IS NOT NULL AND transaction_hash IS NOT NULL AND log_index IS NOT NULL)),
	CHECK ((state IN ('credited', 'failed')) = (ended_at IS NOT NULL))
);
CREATE UNIQUE INDEX top_ups_by_transfer ON top_ups (network, transaction_hash, log_index) WHERE state = 'credited';
CREATE INDEX top_ups_open ON top_ups (look_at) WHERE state IN ('settling', 'unknown');

CREATE TRIGGER top_ups_stay BEFORE UPDATE ON top_ups
	FOR EACH ROW WHEN (OLD.state IN ('credited', 'failed')) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER top_ups_remain BEFORE DELETE ON top_ups FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER top_ups_are_kept BEFORE TRUNCATE ON top_ups FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE broadcast_turns (
	name TEXT NOT NULL PRIMARY KEY,
	holder TEXT NOT NULL,
	holder_until BIGINT NOT NULL
);
`,
};
