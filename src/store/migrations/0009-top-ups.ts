import type { Migration } from "../core/migration.ts";

/**
 * Payments of wallets for their balance. `units` are base units of the token, `amount` nano-USD; `valid_before` is
 * Unix seconds of the chain. `proof` is what the payer signed, with the signature, as JSON.
 *
 * A row is written before anything is sent: `settling` while a node (`settler`, until `settler_until`) settles it,
 * `unknown` where the outcome is unknown, then `credited` or `failed` for good. Below block `from_block` the
 * authorization was unused. `look_at` is the time of an open row's next check.
 *
 * `broadcast_turns`: which node may take the next nonce of a key that several nodes send with.
 */
export const topUps: Migration = {
	number: 9,
	name: "top-ups",
	steps: [
		`
CREATE TABLE top_ups (
	id TEXT NOT NULL PRIMARY KEY,
	network TEXT NOT NULL,
	asset TEXT NOT NULL,
	payer TEXT NOT NULL,
	nonce TEXT NOT NULL,
	pay_to TEXT NOT NULL,
	units INTEGER NOT NULL CHECK (units > 0),
	amount INTEGER NOT NULL CHECK (amount > 0),
	valid_before INTEGER NOT NULL,
	proof TEXT NOT NULL CHECK (json_valid(proof)),
	state TEXT NOT NULL CHECK (state IN ('settling', 'unknown', 'credited', 'failed')),
	settler TEXT NOT NULL,
	settler_until INTEGER NOT NULL,
	from_block INTEGER NOT NULL,
	look_at INTEGER NOT NULL,
	transaction_hash TEXT,
	log_index INTEGER,
	block INTEGER,
	reason TEXT,
	account_id TEXT REFERENCES accounts (id),
	movement_id INTEGER UNIQUE REFERENCES movements (id),
	created_at INTEGER NOT NULL,
	ended_at INTEGER,
	UNIQUE (network, asset, payer, nonce),
	CHECK ((state = 'credited') = (movement_id IS NOT NULL)),
	CHECK (state <> 'credited' OR (account_id IS NOT NULL AND transaction_hash IS NOT NULL AND log_index IS NOT NULL)),
	CHECK ((state IN ('credited', 'failed')) = (ended_at IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX top_ups_by_transfer ON top_ups (network, transaction_hash, log_index) WHERE state = 'credited';
CREATE INDEX top_ups_open ON top_ups (look_at) WHERE state IN ('settling', 'unknown');
`,
		{
			sqlite: `
CREATE TRIGGER top_ups_stay BEFORE UPDATE ON top_ups WHEN old.state IN ('credited', 'failed')
	BEGIN SELECT RAISE(ABORT, 'top-ups that have ended are never changed'); END;
CREATE TRIGGER top_ups_remain BEFORE DELETE ON top_ups BEGIN SELECT RAISE(ABORT, 'top-ups are never deleted'); END;
`,
			postgres: `
CREATE TRIGGER top_ups_stay BEFORE UPDATE ON top_ups
	FOR EACH ROW WHEN (OLD.state IN ('credited', 'failed')) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER top_ups_remain BEFORE DELETE ON top_ups FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER top_ups_are_kept BEFORE TRUNCATE ON top_ups FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
`,
		},
		`
CREATE TABLE broadcast_turns (
	name TEXT NOT NULL PRIMARY KEY,
	holder TEXT NOT NULL,
	holder_until INTEGER NOT NULL
) STRICT;
`,
	],
};
