import type { Migration } from "../../core/migration.ts";

/**
 * Rows that leave the store for archive files, and the sums that replace them, as on SQLite. Only while an archive is
 * `removing` may posts and charges behind `removed_to` be deleted; the triggers add what is deleted to the sums that
 * stay.
 */
export const retention: Migration = {
	number: 7,
	name: "retention",
	sql: `
CREATE TABLE archives (
	month TEXT NOT NULL PRIMARY KEY CHECK (month ~ '^\\d{4}-\\d{2}$'),
	state TEXT NOT NULL CHECK (state IN ('writing', 'removing', 'done')),
	owner TEXT NOT NULL,
	after_post_id BIGINT NOT NULL,
	last_post_id BIGINT NOT NULL CHECK (last_post_id >= after_post_id),
	bytes BIGINT NOT NULL,
	posts BIGINT NOT NULL,
	movements BIGINT NOT NULL,
	sha256 TEXT CHECK ((sha256 IS NULL) = (state = 'writing')),
	removed_to BIGINT NOT NULL CHECK (removed_to BETWEEN after_post_id AND last_post_id),
	removed_bytes BIGINT NOT NULL DEFAULT 0 CHECK (removed_bytes BETWEEN 0 AND bytes),
	kept BIGINT NOT NULL DEFAULT 0,
	moved_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX one_open_archive ON archives ((state <> 'done')) WHERE state <> 'done';

CREATE TABLE carry_forwards (
	account_id TEXT NOT NULL REFERENCES accounts (id),
	debit TEXT NOT NULL,
	credit TEXT NOT NULL CHECK (credit <> debit),
	unit TEXT NOT NULL CHECK (unit IN ('usd', 'bundled', 'diem')),
	day BIGINT NOT NULL,
	amount BIGINT NOT NULL CHECK (amount > 0),
	units BIGINT NOT NULL,
	rows BIGINT NOT NULL CHECK (rows > 0),
	PRIMARY KEY (account_id, debit, credit, unit, day)
);

CREATE TABLE archived_posts (
	node_id TEXT NOT NULL,
	epoch BIGINT NOT NULL,
	posts BIGINT NOT NULL CHECK (posts > 0),
	PRIMARY KEY (node_id, epoch)
);

CREATE TABLE statement_starts (
	account_id TEXT NOT NULL PRIMARY KEY REFERENCES accounts (id),
	usd BIGINT NOT NULL,
	bundled BIGINT NOT NULL,
	diem BIGINT NOT NULL
);

CREATE TABLE usage_folds (
	id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
	before_day BIGINT NOT NULL,
	account_id TEXT NOT NULL,
	key_id TEXT NOT NULL,
	done BIGINT NOT NULL CHECK (done IN (0, 1))
);

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
};
