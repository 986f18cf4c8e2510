import { type Migration, neverChanged } from "../core/migration.ts";

/**
 * The books. Amounts are nano-USD (nano-diem), prices pico-USD per unit, instants Unix milliseconds, days UTC days
 * since 1970-01-01. `unit` and `source` are one of usd, bundled, diem; a movement never crosses units.
 *
 * `entries` of a post counts the charges of its account up to and including its own, over all units, and
 * `entries_<unit>` those of one unit; null where it has none. So each position of a statement is found by its number.
 *
 * A check on a written row lists its values with OR: for IN with more than two, SQLite builds a table at each row.
 */
export const books: Migration = {
	number: 1,
	name: "books",
	steps: [
		`
CREATE TABLE accounts (
	id TEXT NOT NULL PRIMARY KEY,
	name TEXT NOT NULL,
	tier TEXT NOT NULL CHECK (tier IN ('paid', 'partner', 'staff')),
	disabled INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
	operator INTEGER NOT NULL DEFAULT 0 CHECK (operator IN (0, 1)),
	wallet TEXT UNIQUE,
	created_at INTEGER NOT NULL
) STRICT;
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
	restrictions TEXT CHECK (restrictions IS NULL OR json_valid(restrictions)),
	created_at INTEGER NOT NULL,
	expires_at INTEGER,
	last_used_at INTEGER,
	revoked_at INTEGER
) STRICT;
CREATE INDEX keys_of_account ON keys (account_id, created_at);

CREATE TABLE budgets (
	account_id TEXT NOT NULL REFERENCES accounts (id),
	source TEXT NOT NULL CHECK (source = 'usd' OR source = 'bundled' OR source = 'diem'),
	day INTEGER NOT NULL CHECK (day >= 0 AND (source = 'diem' OR day = 0)),
	balance INTEGER NOT NULL CHECK (balance BETWEEN 0 AND 4000000000000000),
	leased INTEGER NOT NULL DEFAULT 0 CHECK (leased BETWEEN 0 AND balance),
	PRIMARY KEY (account_id, source, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE leases (
	node_id TEXT NOT NULL,
	epoch INTEGER NOT NULL,
	account_id TEXT NOT NULL,
	source TEXT NOT NULL,
	day INTEGER NOT NULL,
	amount INTEGER NOT NULL CHECK (amount >= 0),
	PRIMARY KEY (node_id, epoch, account_id, source, day),
	FOREIGN KEY (account_id, source, day) REFERENCES budgets (account_id, source, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE posts (
	id INTEGER PRIMARY KEY,
	request_id TEXT NOT NULL UNIQUE,
	node_id TEXT NOT NULL,
	epoch INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	account_id TEXT NOT NULL REFERENCES accounts (id),
	key_id TEXT,
	day INTEGER NOT NULL,
	admitted_at INTEGER NOT NULL,
	done_at INTEGER NOT NULL,
	booked_at INTEGER NOT NULL,
	route TEXT NOT NULL,
	model TEXT,
	upstream TEXT,
	status INTEGER NOT NULL,
	hold INTEGER NOT NULL CHECK (hold >= 0),
	price INTEGER NOT NULL CHECK (price >= 0),
	prompt_tokens INTEGER,
	completion_tokens INTEGER,
	cached_tokens INTEGER,
	cache_write_tokens INTEGER,
	reasoning_tokens INTEGER,
	tokens_counted INTEGER CHECK (tokens_counted IN (0, 1)),
	entries INTEGER,
	entries_usd INTEGER,
	entries_bundled INTEGER,
	entries_diem INTEGER,
	CHECK ((entries IS NULL) = (coalesce(entries_usd, entries_bundled, entries_diem) IS NULL))
) STRICT;
CREATE INDEX statement_usd ON posts (account_id, entries_usd) WHERE entries_usd IS NOT NULL;
CREATE INDEX statement_bundled ON posts (account_id, entries_bundled) WHERE entries_bundled IS NOT NULL;
CREATE INDEX statement_diem ON posts (account_id, entries_diem) WHERE entries_diem IS NOT NULL;

CREATE TABLE movements (
	id INTEGER PRIMARY KEY,
	kind TEXT NOT NULL CHECK (kind = 'charge' OR kind = 'overrun' OR kind = 'credit' OR kind = 'grant' OR kind = 'allotment'),
	debit TEXT NOT NULL,
	credit TEXT NOT NULL CHECK (credit <> debit),
	amount INTEGER NOT NULL CHECK (amount > 0),
	unit TEXT NOT NULL CHECK (unit = 'usd' OR unit = 'bundled' OR unit = 'diem'),
	post_id INTEGER REFERENCES posts (id) CHECK ((post_id IS NOT NULL) = (kind = 'charge' OR kind = 'overrun')),
	sku TEXT,
	units INTEGER CHECK (units >= 0),
	pico_price INTEGER CHECK (pico_price >= 0),
	day INTEGER NOT NULL,
	occurred_at INTEGER NOT NULL,
	booked_at INTEGER NOT NULL,
	balance_after INTEGER CHECK (balance_after >= 0)
) STRICT;
CREATE INDEX movements_of_post ON movements (post_id) WHERE post_id IS NOT NULL;

CREATE TABLE usage_daily (
	account_id TEXT NOT NULL,
	key_id TEXT NOT NULL,
	day INTEGER NOT NULL,
	unit TEXT NOT NULL CHECK (unit = 'usd' OR unit = 'bundled' OR unit = 'diem' OR unit = 'overrun' OR unit = 'free'),
	sku TEXT NOT NULL,
	amount INTEGER NOT NULL,
	units INTEGER NOT NULL,
	rows INTEGER NOT NULL,
	PRIMARY KEY (account_id, key_id, day, unit, sku)
) STRICT, WITHOUT ROWID;

CREATE TABLE credits (
	reference TEXT NOT NULL PRIMARY KEY,
	account_id TEXT NOT NULL REFERENCES accounts (id),
	amount INTEGER NOT NULL CHECK (amount > 0),
	movement_id INTEGER NOT NULL UNIQUE REFERENCES movements (id),
	created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE diem_stakes (
	account_id TEXT NOT NULL REFERENCES accounts (id),
	from_day INTEGER NOT NULL,
	stake INTEGER NOT NULL CHECK (stake >= 0),
	set_at INTEGER NOT NULL,
	PRIMARY KEY (account_id, from_day)
) STRICT, WITHOUT ROWID;

CREATE TABLE allotments (
	account_id TEXT NOT NULL REFERENCES accounts (id),
	day INTEGER NOT NULL,
	amount INTEGER NOT NULL CHECK (amount > 0),
	movement_id INTEGER NOT NULL UNIQUE REFERENCES movements (id),
	PRIMARY KEY (account_id, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE nodes (
	node_id TEXT NOT NULL,
	epoch INTEGER NOT NULL,
	first_seq INTEGER NOT NULL,
	applied_seq INTEGER NOT NULL CHECK (applied_seq >= first_seq - 1),
	groups INTEGER NOT NULL DEFAULT 0,
	posts INTEGER NOT NULL DEFAULT 0,
	rejects INTEGER NOT NULL DEFAULT 0,
	started_at INTEGER NOT NULL,
	PRIMARY KEY (node_id, epoch)
) STRICT, WITHOUT ROWID;

CREATE TABLE rejected (
	id INTEGER PRIMARY KEY,
	node_id TEXT NOT NULL,
	epoch INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	record TEXT NOT NULL,
	error TEXT NOT NULL,
	rejected_at INTEGER NOT NULL
) STRICT;

CREATE TABLE changes (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	kind TEXT NOT NULL CHECK (kind IN ('account', 'key', 'reload')),
	account_id TEXT,
	key_id TEXT,
	hash TEXT,
	changed_at INTEGER NOT NULL
) STRICT;

CREATE TABLE meta (
	name TEXT NOT NULL PRIMARY KEY,
	value TEXT NOT NULL
) STRICT;
`,
		{
			postgres: `
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
`,
		},
		neverChanged("movements", "posts", "credits", "allotments"),
		{
			postgres: `
-- Nodes hear of changes at once.
CREATE FUNCTION tell_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_notify('turnpike_changes', '');
	RETURN NULL;
END $$;
CREATE TRIGGER changes_are_told AFTER INSERT ON changes FOR EACH STATEMENT EXECUTE FUNCTION tell_change();
`,
		},
	],
};
