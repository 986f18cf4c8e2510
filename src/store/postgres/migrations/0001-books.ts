import type { Migration } from "../../core/migration.ts";

/**
 * The books, as on SQLite: amounts are nano-USD (nano-diem), prices pico-USD per unit, instants Unix milliseconds,
 * days UTC days since 1970-01-01. PostgreSQL adds what several nodes need: their terms, and notices of changes.
 */
export const books: Migration = {
	number: 1,
	name: "books",
	sql: `
CREATE TABLE accounts (
	id TEXT NOT NULL PRIMARY KEY,
	name TEXT NOT NULL,
	tier TEXT NOT NULL CHECK (tier IN ('paid', 'partner', 'staff')),
	disabled BIGINT NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
	operator BIGINT NOT NULL DEFAULT 0 CHECK (operator IN (0, 1)),
	wallet TEXT UNIQUE,
	created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX one_operator ON accounts (operator) WHERE operator = 1;

CREATE TABLE keys (
	id TEXT NOT NULL PRIMARY KEY,
	account_id TEXT NOT NULL REFERENCES accounts (id),
	hash TEXT NOT NULL UNIQUE,
	type TEXT NOT NULL CHECK (type IN ('ADMIN', 'INFERENCE')),
	last6 TEXT NOT NULL,
	description TEXT NOT NULL,
	limit_usd TEXT,
	limit_diem TEXT,
	limit_vcu TEXT,
	limit_period TEXT NOT NULL CHECK (limit_period IN ('EPOCH', 'MONTH', 'LIFETIME')),
	restrictions TEXT CHECK (restrictions IS NULL OR restrictions::jsonb IS NOT NULL),
	created_at BIGINT NOT NULL,
	expires_at BIGINT,
	last_used_at BIGINT,
	revoked_at BIGINT
);
CREATE INDEX keys_of_account ON keys (account_id, created_at);

CREATE TABLE budgets (
	account_id TEXT NOT NULL REFERENCES accounts (id),
	source TEXT NOT NULL CHECK (source IN ('usd', 'bundled', 'diem')),
	day BIGINT NOT NULL CHECK (day >= 0 AND (source = 'diem' OR day = 0)),
	balance BIGINT NOT NULL CHECK (balance BETWEEN 0 AND 4000000000000000),
	leased BIGINT NOT NULL DEFAULT 0 CHECK (leased BETWEEN 0 AND balance),
	PRIMARY KEY (account_id, source, day)
);

CREATE TABLE leases (
	node_id TEXT NOT NULL,
	epoch BIGINT NOT NULL,
	account_id TEXT NOT NULL,
	source TEXT NOT NULL,
	day BIGINT NOT NULL,
	amount BIGINT NOT NULL CHECK (amount >= 0),
	PRIMARY KEY (node_id, epoch, account_id, source, day),
	FOREIGN KEY (account_id, source, day) REFERENCES budgets (account_id, source, day)
);

CREATE TABLE posts (
	id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	request_id TEXT NOT NULL UNIQUE,
	node_id TEXT NOT NULL,
	epoch BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	account_id TEXT NOT NULL REFERENCES accounts (id),
	key_id TEXT,
	day BIGINT NOT NULL,
	admitted_at BIGINT NOT NULL,
	done_at BIGINT NOT NULL,
	booked_at BIGINT NOT NULL,
	route TEXT NOT NULL,
	model TEXT,
	upstream TEXT,
	status BIGINT NOT NULL,
	hold BIGINT NOT NULL CHECK (hold >= 0),
	price BIGINT NOT NULL CHECK (price >= 0),
	prompt_tokens BIGINT,
	completion_tokens BIGINT,
	cached_tokens BIGINT,
	cache_write_tokens BIGINT,
	reasoning_tokens BIGINT,
	tokens_counted BIGINT CHECK (tokens_counted IN (0, 1)),
	entries BIGINT,
	entries_usd BIGINT,
	entries_bundled BIGINT,
	entries_diem BIGINT,
	CHECK ((entries IS NULL) = (coalesce(entries_usd, entries_bundled, entries_diem) IS NULL))
);
CREATE INDEX statement_usd ON posts (account_id, entries_usd) WHERE entries_usd IS NOT NULL;
CREATE INDEX statement_bundled ON posts (account_id, entries_bundled) WHERE entries_bundled IS NOT NULL;
CREATE INDEX statement_diem ON posts (account_id, entries_diem) WHERE entries_diem IS NOT NULL;

CREATE TABLE movements (
	id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	kind TEXT NOT NULL CHECK (kind IN ('charge', 'overrun', 'credit', 'grant', 'allotment')),
	debit TEXT NOT NULL,
	credit TEXT NOT NULL CHECK (credit <> debit),
	amount BIGINT NOT NULL CHECK (amount > 0),
	unit TEXT NOT NULL CHECK (unit IN ('usd', 'bundled', 'diem')),
	post_id BIGINT REFERENCES posts (id) CHECK ((post_id IS NOT NULL) = (kind IN ('charge', 'overrun'))),
	sku TEXT,
	units BIGINT CHECK (units >= 0),
	pico_price BIGINT CHECK (pico_price >= 0),
	day BIGINT NOT NULL,
	occurred_at BIGINT NOT NULL,
	booked_at BIGINT NOT NULL,
	balance_after BIGINT CHECK (balance_after >= 0)
);
CREATE INDEX movements_of_post ON movements (post_id) WHERE post_id IS NOT NULL;

CREATE TABLE usage_daily (
	account_id TEXT NOT NULL,
	key_id TEXT NOT NULL,
	day BIGINT NOT NULL,
	unit TEXT NOT NULL CHECK (unit IN ('usd', 'bundled', 'diem', 'overrun', 'free')),
	sku TEXT NOT NULL,
	amount BIGINT NOT NULL,
	units BIGINT NOT NULL,
	rows BIGINT NOT NULL,
	PRIMARY KEY (account_id, key_id, day, unit, sku)
);

CREATE TABLE credits (
	reference TEXT NOT NULL PRIMARY KEY,
	account_id TEXT NOT NULL REFERENCES accounts (id),
	amount BIGINT NOT NULL CHECK (amount > 0),
	movement_id BIGINT NOT NULL UNIQUE REFERENCES movements (id),
	created_at BIGINT NOT NULL
);

CREATE TABLE diem_stakes (
	account_id TEXT NOT NULL REFERENCES accounts (id),
	from_day BIGINT NOT NULL,
	stake BIGINT NOT NULL CHECK (stake >= 0),
	set_at BIGINT NOT NULL,
	PRIMARY KEY (account_id, from_day)
);

CREATE TABLE allotments (
	account_id TEXT NOT NULL REFERENCES accounts (id),
	day BIGINT NOT NULL,
	amount BIGINT NOT NULL CHECK (amount > 0),
	movement_id BIGINT NOT NULL UNIQUE REFERENCES movements (id),
	PRIMARY KEY (account_id, day)
);

CREATE TABLE nodes (
	node_id TEXT NOT NULL,
	epoch BIGINT NOT NULL,
	first_seq BIGINT NOT NULL,
	applied_seq BIGINT NOT NULL CHECK (applied_seq >= first_seq - 1),
	groups BIGINT NOT NULL DEFAULT 0,
	posts BIGINT NOT NULL DEFAULT 0,
	rejects BIGINT NOT NULL DEFAULT 0,
	started_at BIGINT NOT NULL,
	PRIMARY KEY (node_id, epoch)
);

CREATE TABLE rejected (
	id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	node_id TEXT NOT NULL,
	epoch BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	record TEXT NOT NULL,
	error TEXT NOT NULL,
	rejected_at BIGINT NOT NULL
);

CREATE TABLE changes (
	id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	kind TEXT NOT NULL CHECK (kind IN ('account', 'key', 'reload')),
	account_id TEXT,
	key_id TEXT,
	hash TEXT,
	changed_at BIGINT NOT NULL
);

CREATE TABLE meta (
	name TEXT NOT NULL PRIMARY KEY,
	value TEXT NOT NULL
);

INSERT INTO meta (name, value) VALUES ('store_id', gen_random_uuid()::text);

-- Nodes of this store. A node's leases live until its term ends, by this database's clock; a fenced boot has none.
CREATE TABLE node_terms (
	node_id TEXT NOT NULL,
	epoch BIGINT NOT NULL,
	ends_at TIMESTAMPTZ NOT NULL,
	fenced_at TIMESTAMPTZ,
	PRIMARY KEY (node_id, epoch),
	FOREIGN KEY (node_id, epoch) REFERENCES nodes (node_id, epoch)
);
CREATE INDEX live_nodes ON node_terms (ends_at) WHERE fenced_at IS NULL;

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION '% are never %', TG_TABLE_NAME, CASE TG_OP WHEN 'UPDATE' THEN 'changed' ELSE 'deleted' END
		USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER movements_stay BEFORE UPDATE OR DELETE ON movements FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER movements_remain BEFORE TRUNCATE ON movements FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER posts_stay BEFORE UPDATE OR DELETE ON posts FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER posts_remain BEFORE TRUNCATE ON posts FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER credits_stay BEFORE UPDATE OR DELETE ON credits FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER credits_remain BEFORE TRUNCATE ON credits FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER allotments_stay BEFORE UPDATE OR DELETE ON allotments FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER allotments_remain BEFORE TRUNCATE ON allotments FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Nodes hear of changes at once.
CREATE FUNCTION tell_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_notify('turnpike_changes', '');
	RETURN NULL;
END $$;
CREATE TRIGGER changes_are_told AFTER INSERT ON changes FOR EACH STATEMENT EXECUTE FUNCTION tell_change();
`,
};
