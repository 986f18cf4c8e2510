import type { Migration } from "../core/migration.ts";

/**
 * Records of the chain proxy.
 *
 * `idempotency_answers`: answers under the keys of an account until `expires_at`. `known` 0: the outcome of the
 * request is unknown, and `note` is what it left. A body is in `body`, or in the file that `file` names.
 * `idempotency_counts`: the number of keys, by the hour in which they expire; triggers maintain it. `rpc_credits`:
 * credits used in each 5 minutes (`bucket` is Unix time / 300 s). `rpc_sends`: what was sent to a chain, by hashes;
 * without `outcome` the result is unknown.
 */
export const chainProxy: Migration = {
	number: 6,
	name: "chain-proxy",
	steps: [
		`
CREATE TABLE idempotency_answers (
	account_id TEXT NOT NULL REFERENCES accounts (id),
	key TEXT NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
	fingerprint TEXT NOT NULL,
	known INTEGER NOT NULL CHECK (known = 0 OR known = 1),
	status INTEGER NOT NULL,
	note TEXT NOT NULL,
	bytes INTEGER NOT NULL,
	crc32 INTEGER NOT NULL,
	body BLOB CHECK (body IS NULL OR length(body) = bytes),
	file TEXT CHECK (body IS NULL OR file IS NULL),
	expires_at INTEGER NOT NULL,
	PRIMARY KEY (account_id, key)
) STRICT;
CREATE INDEX idempotency_answers_by_expiry ON idempotency_answers (expires_at);
`,
		{
			sqlite: `
CREATE INDEX idempotency_answers_in_files ON idempotency_answers (file) WHERE file IS NOT NULL;
`,
			postgres: `
CREATE TABLE idempotency_bodies (
	file TEXT NOT NULL,
	part BIGINT NOT NULL,
	body BYTEA NOT NULL,
	shipped_at BIGINT NOT NULL,
	PRIMARY KEY (file, part)
);
CREATE INDEX idempotency_bodies_by_age ON idempotency_bodies (shipped_at);

CREATE TABLE idempotency_running (
	account_id TEXT NOT NULL,
	key TEXT NOT NULL,
	fingerprint TEXT NOT NULL,
	claim TEXT NOT NULL,
	node_id TEXT NOT NULL,
	epoch BIGINT NOT NULL,
	claimed_at BIGINT NOT NULL,
	PRIMARY KEY (account_id, key)
);
CREATE INDEX idempotency_running_on_node ON idempotency_running (node_id, epoch);
`,
		},
		`
CREATE TABLE idempotency_counts (
	account_id TEXT NOT NULL,
	hour INTEGER NOT NULL,
	keys INTEGER NOT NULL CHECK (keys >= 0),
	PRIMARY KEY (account_id, hour)
) STRICT, WITHOUT ROWID;
`,
		{
			sqlite: `
CREATE TRIGGER idempotency_answers_come AFTER INSERT ON idempotency_answers BEGIN
	INSERT INTO idempotency_counts (account_id, hour, keys) VALUES (new.account_id, new.expires_at / 3600000, 1)
		ON CONFLICT DO UPDATE SET keys = keys + 1;
END;
CREATE TRIGGER idempotency_answers_go AFTER DELETE ON idempotency_answers BEGIN
	UPDATE idempotency_counts SET keys = keys - 1 WHERE account_id = old.account_id AND hour = old.expires_at / 3600000;
	DELETE FROM idempotency_counts WHERE account_id = old.account_id AND hour = old.expires_at / 3600000 AND keys = 0;
END;
CREATE TRIGGER idempotency_answers_stay_longer AFTER UPDATE OF expires_at ON idempotency_answers
	WHEN old.expires_at / 3600000 <> new.expires_at / 3600000 BEGIN
	UPDATE idempotency_counts SET keys = keys - 1 WHERE account_id = old.account_id AND hour = old.expires_at / 3600000;
	DELETE FROM idempotency_counts WHERE account_id = old.account_id AND hour = old.expires_at / 3600000 AND keys = 0;
	INSERT INTO idempotency_counts (account_id, hour, keys) VALUES (new.account_id, new.expires_at / 3600000, 1)
		ON CONFLICT DO UPDATE SET keys = keys + 1;
END;
`,
			postgres: `
CREATE FUNCTION count_idempotency_answer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'UPDATE' AND OLD.expires_at / 3600000 = NEW.expires_at / 3600000 THEN RETURN NULL; END IF;
	IF TG_OP <> 'INSERT' THEN
		UPDATE idempotency_counts SET keys = keys - 1 WHERE account_id = OLD.account_id AND hour = OLD.expires_at / 3600000;
		DELETE FROM idempotency_counts WHERE account_id = OLD.account_id AND hour = OLD.expires_at / 3600000 AND keys = 0;
	END IF;
	IF TG_OP <> 'DELETE' THEN
		INSERT INTO idempotency_counts AS counted (account_id, hour, keys) VALUES (NEW.account_id, NEW.expires_at / 3600000, 1)
			ON CONFLICT (account_id, hour) DO UPDATE SET keys = counted.keys + 1;
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER idempotency_answers_are_counted AFTER INSERT OR UPDATE OR DELETE ON idempotency_answers
	FOR EACH ROW EXECUTE FUNCTION count_idempotency_answer();
`,
		},
		`
CREATE TABLE rpc_credits (
	account_id TEXT NOT NULL,
	bucket INTEGER NOT NULL,
	credits INTEGER NOT NULL,
	PRIMARY KEY (account_id, bucket)
) STRICT, WITHOUT ROWID;
CREATE INDEX rpc_credits_by_age ON rpc_credits (bucket);

CREATE TABLE rpc_sends (
	id INTEGER PRIMARY KEY,
	request_id TEXT NOT NULL,
	item INTEGER NOT NULL CHECK (item >= 0),
	account_id TEXT NOT NULL REFERENCES accounts (id),
	key_id TEXT,
	network TEXT NOT NULL,
	method TEXT NOT NULL,
	raw_hash TEXT,
	tx_hash TEXT,
	sent_at INTEGER NOT NULL,
	outcome TEXT,
	ended_at INTEGER,
	UNIQUE (request_id, item)
) STRICT;
CREATE INDEX rpc_sends_by_raw_hash ON rpc_sends (raw_hash) WHERE raw_hash IS NOT NULL;
CREATE INDEX rpc_sends_by_tx_hash ON rpc_sends (tx_hash) WHERE tx_hash IS NOT NULL;
CREATE INDEX rpc_sends_by_time ON rpc_sends (sent_at);
CREATE INDEX rpc_sends_of_key ON rpc_sends (key_id, sent_at);
CREATE INDEX rpc_sends_of_network ON rpc_sends (network, sent_at);
`,
	],
};
