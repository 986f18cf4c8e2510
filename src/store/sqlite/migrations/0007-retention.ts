import type { Migration } from "../../core/migration.ts";

/**
 * Rows that leave the store for archive files, and the sums that replace them (docs/money.md, "Old months").
 *
 * `archives`: a file of posts with their charges, by the month whose end it reaches. Its posts are those with an id
 * above that of the file before, up to `last_post_id`. Only while it is `removing` may posts and charges behind
 * `removed_to` be deleted; the triggers add what is deleted to the sums that stay. These are `carry_forwards`, a
 * movement for all charges of an account from one side to the other in a unit and a day; `archived_posts`, how many
 * posts of a boot are gone; and `statement_starts`, the archived numbers of a statement. `usage_folds`: days of
 * `usage_daily` before `before_day` are one day, 0.
 */
export const retention: Migration = {
	number: 7,
	name: "retention",
	sql: `
CREATE TABLE archives (
	month TEXT NOT NULL PRIMARY KEY CHECK (month GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]'),
	state TEXT NOT NULL CHECK (state = 'writing' OR state = 'removing' OR state = 'done'),
	owner TEXT NOT NULL,
	after_post_id INTEGER NOT NULL,
	last_post_id INTEGER NOT NULL CHECK (last_post_id >= after_post_id),
	bytes INTEGER NOT NULL,
	posts INTEGER NOT NULL,
	movements INTEGER NOT NULL,
	sha256 TEXT CHECK ((sha256 IS NULL) = (state = 'writing')),
	removed_to INTEGER NOT NULL CHECK (removed_to BETWEEN after_post_id AND last_post_id),
	removed_bytes INTEGER NOT NULL DEFAULT 0 CHECK (removed_bytes BETWEEN 0 AND bytes),
	kept INTEGER NOT NULL DEFAULT 0,
	moved_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX one_open_archive ON archives ((state <> 'done')) WHERE state <> 'done';

CREATE TABLE carry_forwards (
	account_id TEXT NOT NULL REFERENCES accounts (id),
	debit TEXT NOT NULL,
	credit TEXT NOT NULL CHECK (credit <> debit),
	unit TEXT NOT NULL CHECK (unit = 'usd' OR unit = 'bundled' OR unit = 'diem'),
	day INTEGER NOT NULL,
	amount INTEGER NOT NULL CHECK (amount > 0),
	units INTEGER NOT NULL,
	rows INTEGER NOT NULL CHECK (rows > 0),
	PRIMARY KEY (account_id, debit, credit, unit, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE archived_posts (
	node_id TEXT NOT NULL,
	epoch INTEGER NOT NULL,
	posts INTEGER NOT NULL CHECK (posts > 0),
	PRIMARY KEY (node_id, epoch)
) STRICT, WITHOUT ROWID;

CREATE TABLE statement_starts (
	account_id TEXT NOT NULL PRIMARY KEY REFERENCES accounts (id),
	usd INTEGER NOT NULL,
	bundled INTEGER NOT NULL,
	diem INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_folds (
	id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
	before_day INTEGER NOT NULL,
	account_id TEXT NOT NULL,
	key_id TEXT NOT NULL,
	done INTEGER NOT NULL CHECK (done IN (0, 1))
) STRICT;

DROP TRIGGER movements_remain;
CREATE TRIGGER movements_remain BEFORE DELETE ON movements
WHEN OLD.post_id IS NULL OR NOT EXISTS (
	SELECT 1 FROM archives WHERE state = 'removing' AND OLD.post_id > removed_to AND OLD.post_id <= last_post_id)
BEGIN SELECT RAISE(ABORT, 'movements are never deleted'); END;
CREATE TRIGGER movements_carried AFTER DELETE ON movements BEGIN
	INSERT INTO carry_forwards (account_id, debit, credit, unit, day, amount, units, rows)
	VALUES ((SELECT account_id FROM posts WHERE id = OLD.post_id), OLD.debit, OLD.credit, OLD.unit, OLD.day, OLD.amount, coalesce(OLD.units, 0), 1)
	ON CONFLICT (account_id, debit, credit, unit, day) DO UPDATE
		SET amount = amount + excluded.amount, units = units + excluded.units, rows = rows + 1;
END;

DROP TRIGGER posts_remain;
CREATE TRIGGER posts_remain BEFORE DELETE ON posts
WHEN NOT EXISTS (SELECT 1 FROM archives WHERE state = 'removing' AND OLD.id > removed_to AND OLD.id <= last_post_id)
BEGIN SELECT RAISE(ABORT, 'posts are never deleted'); END;
CREATE TRIGGER posts_carried AFTER DELETE ON posts BEGIN
	INSERT INTO archived_posts (node_id, epoch, posts) VALUES (OLD.node_id, OLD.epoch, 1)
	ON CONFLICT (node_id, epoch) DO UPDATE SET posts = posts + 1;
	INSERT INTO statement_starts (account_id, usd, bundled, diem)
	SELECT OLD.account_id, coalesce(OLD.entries_usd, 0), coalesce(OLD.entries_bundled, 0), coalesce(OLD.entries_diem, 0)
	WHERE OLD.entries IS NOT NULL
	ON CONFLICT (account_id) DO UPDATE SET usd = max(usd, excluded.usd), bundled = max(bundled, excluded.bundled),
		diem = max(diem, excluded.diem);
END;

CREATE TRIGGER archives_remain BEFORE DELETE ON archives BEGIN SELECT RAISE(ABORT, 'archives are never deleted'); END;
CREATE TRIGGER archives_stay BEFORE UPDATE ON archives WHEN OLD.state = 'done'
BEGIN SELECT RAISE(ABORT, 'finished archives are never changed'); END;
CREATE TRIGGER carry_forwards_remain BEFORE DELETE ON carry_forwards
BEGIN SELECT RAISE(ABORT, 'carry-forwards are never deleted'); END;
CREATE TRIGGER carry_forwards_grow BEFORE UPDATE ON carry_forwards
WHEN NEW.amount <= OLD.amount OR NOT EXISTS (SELECT 1 FROM archives WHERE state = 'removing')
BEGIN SELECT RAISE(ABORT, 'carry-forwards only grow'); END;
CREATE TRIGGER carry_forwards_begin BEFORE INSERT ON carry_forwards
WHEN NOT EXISTS (SELECT 1 FROM archives WHERE state = 'removing')
BEGIN SELECT RAISE(ABORT, 'carry-forwards are made by archives'); END;
CREATE TRIGGER archived_posts_remain BEFORE DELETE ON archived_posts
BEGIN SELECT RAISE(ABORT, 'counts of archived posts are never deleted'); END;
CREATE TRIGGER statement_starts_remain BEFORE DELETE ON statement_starts
BEGIN SELECT RAISE(ABORT, 'starts of statements are never deleted'); END;
`,
};
