import type { Migration } from "../core/migration.ts";

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
	steps: [
		`
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
`,
		{
			sqlite: `
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
			postgres: `
DROP TRIGGER movements_stay ON movements;
CREATE TRIGGER movements_stay BEFORE UPDATE ON movements FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE FUNCTION carry_movements() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT 1 FROM gone WHERE gone.post_id IS NULL OR NOT EXISTS (
		SELECT 1 FROM archives WHERE state = 'removing' AND gone.post_id > removed_to AND gone.post_id <= last_post_id))
	THEN
		RAISE EXCEPTION 'movements are never deleted' USING ERRCODE = 'restrict_violation';
	END IF;
	INSERT INTO carry_forwards AS carried (account_id, debit, credit, unit, day, amount, units, rows)
	SELECT posts.account_id, gone.debit, gone.credit, gone.unit, gone.day, sum(gone.amount), sum(coalesce(gone.units, 0)), count(*)
	FROM gone JOIN posts ON posts.id = gone.post_id GROUP BY 1, 2, 3, 4, 5
	ON CONFLICT (account_id, debit, credit, unit, day) DO UPDATE
		SET amount = carried.amount + excluded.amount, units = carried.units + excluded.units, rows = carried.rows + excluded.rows;
	RETURN NULL;
END $$;
CREATE TRIGGER movements_carried AFTER DELETE ON movements REFERENCING OLD TABLE AS gone
	FOR EACH STATEMENT EXECUTE FUNCTION carry_movements();

DROP TRIGGER posts_stay ON posts;
CREATE TRIGGER posts_stay BEFORE UPDATE ON posts FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE FUNCTION carry_posts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT 1 FROM gone WHERE NOT EXISTS (
		SELECT 1 FROM archives WHERE state = 'removing' AND gone.id > removed_to AND gone.id <= last_post_id))
	THEN
		RAISE EXCEPTION 'posts are never deleted' USING ERRCODE = 'restrict_violation';
	END IF;
	INSERT INTO archived_posts AS archived (node_id, epoch, posts) SELECT node_id, epoch, count(*) FROM gone GROUP BY 1, 2
	ON CONFLICT (node_id, epoch) DO UPDATE SET posts = archived.posts + excluded.posts;
	INSERT INTO statement_starts AS start (account_id, usd, bundled, diem)
	SELECT account_id, coalesce(max(entries_usd), 0), coalesce(max(entries_bundled), 0), coalesce(max(entries_diem), 0)
	FROM gone WHERE entries IS NOT NULL GROUP BY 1
	ON CONFLICT (account_id) DO UPDATE SET usd = greatest(start.usd, excluded.usd),
		bundled = greatest(start.bundled, excluded.bundled), diem = greatest(start.diem, excluded.diem);
	RETURN NULL;
END $$;
CREATE TRIGGER posts_carried AFTER DELETE ON posts REFERENCING OLD TABLE AS gone
	FOR EACH STATEMENT EXECUTE FUNCTION carry_posts();

CREATE FUNCTION refuse_change_of_archive() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'UPDATE' AND OLD.state <> 'done' THEN
		RETURN NEW;
	END IF;
	RAISE EXCEPTION 'finished archives are never changed, and none is deleted' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER archives_stay BEFORE UPDATE OR DELETE ON archives FOR EACH ROW EXECUTE FUNCTION refuse_change_of_archive();
CREATE FUNCTION guard_carry_forward() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NOT EXISTS (SELECT 1 FROM archives WHERE state = 'removing') OR (TG_OP = 'UPDATE' AND NEW.amount <= OLD.amount) THEN
		RAISE EXCEPTION 'carry-forwards are made by archives, and only grow' USING ERRCODE = 'restrict_violation';
	END IF;
	RETURN NEW;
END $$;
CREATE TRIGGER carry_forwards_grow BEFORE INSERT OR UPDATE ON carry_forwards FOR EACH ROW EXECUTE FUNCTION guard_carry_forward();
CREATE TRIGGER carry_forwards_stay BEFORE DELETE ON carry_forwards FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER carry_forwards_remain BEFORE TRUNCATE ON carry_forwards FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER archives_remain BEFORE TRUNCATE ON archives FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER archived_posts_stay BEFORE DELETE ON archived_posts FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER archived_posts_remain BEFORE TRUNCATE ON archived_posts FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER statement_starts_stay BEFORE DELETE ON statement_starts FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER statement_starts_remain BEFORE TRUNCATE ON statement_starts FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
`,
		},
	],
};
