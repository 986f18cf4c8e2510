import type { Migration } from "../../core/migration.ts";

/**
 * Records of the chain proxy, as on SQLite. Other nodes answer from them, so bodies above 256 KiB are stored too, in
 * parts (`idempotency_bodies`, under the name of their file). A running request has a row (`idempotency_running`)
 * that ends with it, or with the epoch of its node.
 */
export const chainProxy: Migration = {
	number: 6,
	name: "chain-proxy",
	sql: `
CREATE TABLE idempotency_answers (
	account_id TEXT NOT NULL REFERENCES accounts (id),
	key TEXT NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
	fingerprint TEXT NOT NULL,
	known BIGINT NOT NULL CHECK (known IN (0, 1)),
	status BIGINT NOT NULL,
	note TEXT NOT NULL,
	bytes BIGINT NOT NULL,
	crc32 BIGINT NOT NULL,
	body BYTEA CHECK (body IS NULL OR octet_length(body) = bytes),
	file TEXT CHECK (body IS NULL OR file IS NULL),
	expires_at BIGINT NOT NULL,
	PRIMARY KEY (account_id, key)
);
CREATE INDEX idempotency_answers_by_expiry ON idempotency_answers (expires_at);

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

CREATE TABLE idempotency_counts (
	account_id TEXT NOT NULL,
	hour BIGINT NOT NULL,
	keys BIGINT NOT NULL CHECK (keys >= 0),
	PRIMARY KEY (account_id, hour)
);

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

CREATE TABLE rpc_credits (
	account_id TEXT NOT NULL,
	bucket BIGINT NOT NULL,
	credits BIGINT NOT NULL,
	PRIMARY KEY (account_id, bucket)
);
CREATE INDEX rpc_credits_by_age ON rpc_credits (bucket);

CREATE TABLE rpc_sends (
	id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	request_id TEXT NOT NULL,
	item BIGINT NOT NULL CHECK (item >= 0),
	account_id TEXT NOT NULL REFERENCES accounts (id),
	key_id TEXT,
	network TEXT NOT NULL,
	method TEXT NOT NULL,
	raw_hash TEXT,
	tx_hash TEXT,
	sent_at BIGINT NOT NULL,
	outcome TEXT,
	ended_at BIGINT,
	UNIQUE (request_id, item)
);
CREATE INDEX rpc_sends_by_raw_hash ON rpc_sends (raw_hash) WHERE raw_hash IS NOT NULL;
CREATE INDEX rpc_sends_by_tx_hash ON rpc_sends (tx_hash) WHERE tx_hash IS NOT NULL;
CREATE INDEX rpc_sends_by_time ON rpc_sends (sent_at);
CREATE INDEX rpc_sends_of_key ON rpc_sends (key_id, sent_at);
CREATE INDEX rpc_sends_of_network ON rpc_sends (network, sent_at);
`,
};
