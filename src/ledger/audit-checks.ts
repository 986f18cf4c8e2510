/** The invariants of the books. Each query returns the rows that violate its rule. */
import { type RawBuilder, sql } from "kysely";

export type AuditCheckName =
	| "balances"
	| "leases"
	| "applied"
	| "booked"
	| "daily"
	| "carried"
	| "numbers"
	| "prices"
	| "charges"
	| "duplicates"
	| "credits"
	| "debits"
	| "refunds"
	| "returned"
	| "allotments"
	| "rejected";

export interface AuditCheck {
	readonly name: AuditCheckName;
	readonly message: string;
	readonly query: (limit: number) => RawBuilder<Record<string, unknown>>;
}

/** A budget has one row for all days; only diem has one for each day. */
const budgetDay = sql`CASE unit WHEN 'diem' THEN day ELSE 0 END`;

/** Days of `usage_daily` before this one may be folded into one day, 0. */
const foldedBefore = sql`coalesce((SELECT max(before_day) FROM usage_folds), 0)`;
const countedDay = sql`CASE WHEN day < ${foldedBefore} THEN 0 ELSE day END`;
/** The last day for which the books have a sum in place of charges. */
const lastCarriedDay = sql`(CASE WHEN coalesce((SELECT max(day) FROM carry_forwards), -1) >= ${foldedBefore}
	THEN (SELECT max(day) FROM carry_forwards) ELSE ${foldedBefore} - 1 END)`;

export const AUDIT_CHECKS: readonly AuditCheck[] = [
	{
		name: "balances",
		message: "a balance differs from the sum of its movements",
		query: (limit) => sql`
			WITH sides AS (
				SELECT credit AS account, unit, ${budgetDay} AS budget_day, amount FROM movements
				UNION ALL SELECT debit, unit, ${budgetDay}, -amount FROM movements
				UNION ALL SELECT credit, unit, ${budgetDay}, amount FROM carry_forwards
				UNION ALL SELECT debit, unit, ${budgetDay}, -amount FROM carry_forwards
			), sums AS (
				SELECT account, unit, budget_day, sum(amount) AS moved FROM sides
				WHERE account NOT IN ('revenue', 'issued', 'overrun') GROUP BY account, unit, budget_day
			)
			SELECT coalesce(budgets.account_id, sums.account) AS account, coalesce(budgets.source, sums.unit) AS unit,
				coalesce(budgets.day, sums.budget_day) AS day, budgets.balance AS balance, sums.moved AS moved
			FROM budgets FULL JOIN sums
				ON budgets.account_id = sums.account AND budgets.source = sums.unit AND budgets.day = sums.budget_day
			WHERE coalesce(budgets.balance, 0) <> coalesce(sums.moved, 0) LIMIT ${limit}`,
	},
	{
		name: "leases",
		message: "what is leased of a budget differs from the sum of its leases",
		query: (limit) => sql`
			WITH held AS (SELECT account_id, source, day, sum(amount) AS amount FROM leases GROUP BY account_id, source, day)
			SELECT budgets.account_id AS account, budgets.source AS unit, budgets.day AS day, leased, held.amount AS leases
			FROM budgets LEFT JOIN held
				ON budgets.account_id = held.account_id AND budgets.source = held.source AND budgets.day = held.day
			WHERE budgets.leased <> coalesce(held.amount, 0) LIMIT ${limit}`,
	},
	{
		name: "applied",
		// A lower sequence is allowed: posts of a fenced boot may arrive after the next one has begun.
		message: "a boot leaves a hole behind the boot before",
		query: (limit) => sql`
			SELECT node_id AS node, epoch, first_seq, expected FROM (
				SELECT node_id, epoch, first_seq,
					coalesce(lag(applied_seq) OVER (PARTITION BY node_id ORDER BY epoch) + 1, 1) AS expected FROM nodes
			) AS boots WHERE first_seq > expected LIMIT ${limit}`,
	},
	{
		name: "booked",
		message: "a boot's counts of groups, posts and rejected records differ from what is there",
		query: (limit) => sql`
			WITH posted AS (SELECT node_id, epoch, count(*) AS found, max(seq) AS last FROM posts GROUP BY node_id, epoch),
			refused AS (SELECT node_id, epoch, count(*) AS found FROM rejected GROUP BY node_id, epoch)
			SELECT nodes.node_id AS node, nodes.epoch AS epoch, applied_seq - first_seq + 1 AS sequences, groups, nodes.posts AS posts,
				coalesce(posted.found, 0) AS posts_found, coalesce(archived_posts.posts, 0) AS posts_archived, rejects, coalesce(refused.found, 0) AS rejects_found, posted.last AS last_post_seq
			FROM nodes
				LEFT JOIN posted ON posted.node_id = nodes.node_id AND posted.epoch = nodes.epoch
				LEFT JOIN archived_posts ON archived_posts.node_id = nodes.node_id AND archived_posts.epoch = nodes.epoch
				LEFT JOIN refused ON refused.node_id = nodes.node_id AND refused.epoch = nodes.epoch
			WHERE groups <> applied_seq - first_seq + 1 OR nodes.posts <> coalesce(posted.found, 0) + coalesce(archived_posts.posts, 0)
				OR rejects <> coalesce(refused.found, 0) OR coalesce(posted.last, 0) > applied_seq LIMIT ${limit}`,
	},
	{
		name: "daily",
		message: "a day's amounts differ from its movements",
		query: (limit) => sql`
			WITH carried AS (SELECT DISTINCT account_id, day FROM carry_forwards), moved AS (
				SELECT posts.account_id, coalesce(posts.key_id, '') AS key_id, movements.day AS day,
					CASE movements.kind WHEN 'overrun' THEN 'overrun' ELSE movements.unit END AS unit, movements.sku AS sku,
					sum(movements.amount) AS amount, sum(movements.units) AS units, count(*) AS row_count
				FROM movements JOIN posts ON posts.id = movements.post_id
					LEFT JOIN carried ON carried.account_id = posts.account_id AND carried.day = movements.day
				WHERE carried.day IS NULL AND movements.day >= ${foldedBefore} GROUP BY 1, 2, 3, 4, 5
			), daily AS (
				SELECT usage_daily.* FROM usage_daily
					LEFT JOIN carried ON carried.account_id = usage_daily.account_id AND carried.day = usage_daily.day
				WHERE carried.day IS NULL AND usage_daily.day >= ${foldedBefore} AND unit <> 'free'
			)
			SELECT coalesce(daily.account_id, moved.account_id) AS account, coalesce(daily.key_id, moved.key_id) AS key,
				coalesce(daily.day, moved.day) AS day, coalesce(daily.unit, moved.unit) AS unit, coalesce(daily.sku, moved.sku) AS sku,
				daily.amount AS daily_amount, moved.amount AS moved_amount, daily.units AS daily_units, moved.units AS moved_units,
				daily.rows AS daily_rows, moved.row_count AS moved_rows
			FROM daily FULL JOIN moved ON daily.account_id = moved.account_id AND daily.key_id = moved.key_id
				AND daily.day = moved.day AND daily.unit = moved.unit AND daily.sku = moved.sku
			WHERE coalesce(daily.amount, -1) <> coalesce(moved.amount, -1) OR coalesce(daily.units, -1) <> coalesce(moved.units, -1)
				OR coalesce(daily.rows, -1) <> coalesce(moved.row_count, -1) LIMIT ${limit}`,
	},
	{
		name: "carried",
		message: "the amounts of days of which charges were archived, or that were made one, differ from what is carried and booked",
		query: (limit) => sql`
			WITH daily AS (
				SELECT account_id, unit, ${countedDay} AS day, sum(amount) AS amount, sum(units) AS units, sum(rows) AS row_count
				FROM usage_daily WHERE unit <> 'free' AND day <= ${lastCarriedDay} GROUP BY 1, 2, 3
			), charges AS (
				SELECT posts.account_id, CASE movements.kind WHEN 'overrun' THEN 'overrun' ELSE movements.unit END AS unit, movements.day,
					movements.amount, movements.units, 1 AS row_count
				FROM movements JOIN posts ON posts.id = movements.post_id
				UNION ALL SELECT account_id, CASE debit WHEN 'overrun' THEN 'overrun' ELSE unit END, day, amount, units, rows FROM carry_forwards
			), booked AS (
				SELECT account_id, unit, ${countedDay} AS day, sum(amount) AS amount, sum(units) AS units, sum(row_count) AS row_count
				FROM charges WHERE day <= ${lastCarriedDay} GROUP BY 1, 2, 3
			)
			SELECT coalesce(daily.account_id, booked.account_id) AS account, coalesce(daily.unit, booked.unit) AS unit,
				coalesce(daily.day, booked.day) AS day, daily.amount AS daily_amount, booked.amount AS booked_amount,
				daily.units AS daily_units, booked.units AS booked_units, daily.row_count AS daily_rows, booked.row_count AS booked_rows
			FROM daily FULL JOIN booked ON daily.account_id = booked.account_id AND daily.unit = booked.unit AND daily.day = booked.day
			WHERE coalesce(daily.amount, -1) <> coalesce(booked.amount, -1) OR coalesce(daily.units, -1) <> coalesce(booked.units, -1)
				OR coalesce(daily.row_count, -1) <> coalesce(booked.row_count, -1) LIMIT ${limit}`,
	},
	{
		name: "numbers",
		message: "the numbers of a statement have a hole or a repeat",
		query: (limit) => sql`
			WITH charged AS (
				SELECT post_id, sum(CASE unit WHEN 'usd' THEN 1 ELSE 0 END) AS usd, sum(CASE unit WHEN 'bundled' THEN 1 ELSE 0 END) AS bundled,
					sum(CASE unit WHEN 'diem' THEN 1 ELSE 0 END) AS diem FROM movements WHERE kind = 'charge' GROUP BY post_id
			), placed AS (
				SELECT posts.account_id, request_id, entries, entries_usd, entries_bundled, entries_diem,
					coalesce(charged.usd, 0) AS usd, coalesce(charged.bundled, 0) AS bundled, coalesce(charged.diem, 0) AS diem,
					coalesce(max(entries) OVER earlier, start.usd + start.bundled + start.diem, 0) AS before_all,
					coalesce(max(entries_usd) OVER earlier, start.usd, 0) AS before_usd,
					coalesce(max(entries_bundled) OVER earlier, start.bundled, 0) AS before_bundled,
					coalesce(max(entries_diem) OVER earlier, start.diem, 0) AS before_diem
				FROM posts LEFT JOIN charged ON charged.post_id = posts.id
					LEFT JOIN statement_starts AS start ON start.account_id = posts.account_id
				WHERE posts.id > coalesce((SELECT max(removed_to) FROM archives), 0)
				WINDOW earlier AS (PARTITION BY posts.account_id ORDER BY posts.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
			)
			SELECT request_id AS request, account_id AS account, entries, before_all + usd + bundled + diem AS expected,
				entries_usd, before_usd + usd AS expected_usd, entries_bundled, before_bundled + bundled AS expected_bundled,
				entries_diem, before_diem + diem AS expected_diem
			FROM placed WHERE coalesce(entries, before_all) <> before_all + usd + bundled + diem
				OR coalesce(entries_usd, before_usd) <> before_usd + usd OR coalesce(entries_bundled, before_bundled) <> before_bundled + bundled
				OR coalesce(entries_diem, before_diem) <> before_diem + diem LIMIT ${limit}`,
	},
	{
		name: "prices",
		message: "a post's movements do not sum to its price",
		query: (limit) => sql`
			SELECT posts.request_id AS request, posts.price AS price, coalesce(sum(movements.amount), 0) AS moved
			FROM posts LEFT JOIN movements ON movements.post_id = posts.id
			GROUP BY posts.id HAVING posts.price <> coalesce(sum(movements.amount), 0) LIMIT ${limit}`,
	},
	{
		name: "charges",
		message: "a charge has no post, or one of another account or day",
		query: (limit) => sql`
			SELECT movements.id AS movement, movements.debit AS debit, movements.amount AS amount, posts.request_id AS request
			FROM movements LEFT JOIN posts ON posts.id = movements.post_id
			WHERE movements.kind IN ('charge', 'overrun') AND (posts.id IS NULL OR movements.day <> posts.day
				OR movements.debit <> CASE movements.kind WHEN 'charge' THEN posts.account_id ELSE 'overrun' END) LIMIT ${limit}`,
	},
	{
		name: "duplicates",
		message: "a request has more than one post",
		query: (limit) => sql`
			SELECT request AS request, count(*) AS posts FROM (SELECT request_id || '' AS request FROM posts) AS all_posts
			GROUP BY request HAVING count(*) > 1 LIMIT ${limit}`,
	},
	{
		name: "credits",
		message: "a credit and its movement differ",
		query: (limit) => sql`
			SELECT credits.reference AS reference, credits.amount AS credited, movements.id AS movement, movements.amount AS moved
			FROM credits FULL JOIN (SELECT * FROM movements WHERE kind = 'credit') AS movements ON movements.id = credits.movement_id
			WHERE coalesce(credits.amount, -1) <> coalesce(movements.amount, -1) OR credits.account_id <> movements.credit LIMIT ${limit}`,
	},
	{
		name: "debits",
		message: "a debit and its movement differ",
		query: (limit) => sql`
			SELECT debits.reference AS reference, debits.amount AS debited, movements.id AS movement, movements.amount AS moved
			FROM debits FULL JOIN (SELECT * FROM movements WHERE kind = 'grant' AND unit = 'usd' AND credit = 'issued') AS movements
				ON movements.id = debits.movement_id
			WHERE coalesce(debits.amount, -1) <> coalesce(movements.amount, -1) OR debits.account_id <> movements.debit LIMIT ${limit}`,
	},
	{
		name: "refunds",
		message: "a refund and its movement differ",
		query: (limit) => sql`
			SELECT refunds.reference AS reference, refunds.unit AS unit, refunds.amount AS refunded, movements.id AS movement,
				movements.amount AS moved
			FROM refunds FULL JOIN (SELECT * FROM movements WHERE kind = 'grant' AND debit = 'revenue') AS movements
				ON movements.id = refunds.movement_id
			WHERE coalesce(refunds.amount, -1) <> coalesce(movements.amount, -1) OR refunds.account_id <> movements.credit
				OR refunds.unit <> movements.unit LIMIT ${limit}`,
	},
	{
		name: "returned",
		message: "more of a request was given back than it was charged, or to another account or day",
		query: (limit) => sql`
			SELECT request, unit, returned, charged FROM (
				SELECT posts.request_id AS request, back.unit AS unit, back.amount AS returned, back.strange AS strange,
					coalesce(sum(charges.amount), 0) AS charged
				FROM (
					SELECT refunds.post_id AS post_id, refunds.unit AS unit, sum(refunds.amount) AS amount,
						sum(CASE WHEN refunds.account_id <> posts.account_id OR (refunds.unit = 'diem' AND movements.day <> posts.day)
							THEN 1 ELSE 0 END) AS strange
					FROM refunds JOIN posts ON posts.id = refunds.post_id JOIN movements ON movements.id = refunds.movement_id
					GROUP BY refunds.post_id, refunds.unit
				) AS back
					JOIN posts ON posts.id = back.post_id
					LEFT JOIN movements AS charges
						ON charges.post_id = back.post_id AND charges.kind = 'charge' AND charges.unit = back.unit
				GROUP BY posts.request_id, back.unit, back.amount, back.strange
			) AS sums WHERE returned > charged OR strange > 0 LIMIT ${limit}`,
	},
	{
		name: "allotments",
		message: "a day's allotment and its movement differ",
		query: (limit) => sql`
			SELECT coalesce(allotments.account_id, movements.credit) AS account, coalesce(allotments.day, movements.day) AS day,
				allotments.amount AS allotted, movements.amount AS moved
			FROM allotments FULL JOIN (SELECT * FROM movements WHERE kind = 'allotment') AS movements ON movements.id = allotments.movement_id
			WHERE coalesce(allotments.amount, -1) <> coalesce(movements.amount, -1) OR allotments.account_id <> movements.credit
				OR allotments.day <> movements.day LIMIT ${limit}`,
	},
	{
		name: "rejected",
		message: "a record of the journal could not be booked",
		query: (limit) => sql`
			SELECT id, node_id AS node, epoch, seq, error FROM rejected ORDER BY id LIMIT ${limit}`,
	},
];
