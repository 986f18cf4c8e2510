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

/** The unit under which `usage_daily` counts a movement. */
const usageUnit = sql`CASE movements.kind WHEN 'overrun' THEN 'overrun' ELSE movements.unit END`;
const isDebit = sql`movements.kind = 'grant' AND movements.unit = 'usd' AND movements.credit = 'issued'`;
const isRefund = sql`movements.kind = 'grant' AND movements.debit = 'revenue'`;

/**
 * Compares the sums of `usage_daily` and of movements over a group of both. A group costs one row of a sort, where a
 * full join of two queries would have no index and grow with the square of the rows.
 */
const sidesDiffer = {
	columns: sql`sum(daily_amount) AS daily_amount, sum(moved_amount) AS moved_amount, sum(daily_units) AS daily_units,
		sum(moved_units) AS moved_units, sum(daily_rows) AS daily_rows, sum(moved_rows) AS moved_rows`,
	condition: sql`sum(daily_amount) <> sum(moved_amount) OR sum(daily_units) <> sum(moved_units)
		OR sum(daily_rows) <> sum(moved_rows) OR sum(moved_rows) = 0`,
};

export const AUDIT_CHECKS: readonly AuditCheck[] = [
	{
		name: "balances",
		message: "a balance differs from the sum of its movements",
		query: (limit) => sql`
			WITH sides AS (
				SELECT account_id AS account, source AS unit, day AS budget_day, balance, 0 AS moved FROM budgets
				UNION ALL SELECT credit, unit, ${budgetDay}, 0, amount FROM movements
				UNION ALL SELECT debit, unit, ${budgetDay}, 0, -amount FROM movements
				UNION ALL SELECT credit, unit, ${budgetDay}, 0, amount FROM carry_forwards
				UNION ALL SELECT debit, unit, ${budgetDay}, 0, -amount FROM carry_forwards
			)
			SELECT account, unit, budget_day AS day, sum(balance) AS balance, sum(moved) AS moved FROM sides
			WHERE account NOT IN ('revenue', 'issued', 'overrun') GROUP BY account, unit, budget_day
			HAVING sum(balance) <> sum(moved) LIMIT ${limit}`,
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
			WITH sides AS (
				SELECT account_id, key_id, day, unit, sku, amount AS daily_amount, units AS daily_units, rows AS daily_rows,
					0 AS moved_amount, 0 AS moved_units, 0 AS moved_rows
				FROM usage_daily WHERE unit <> 'free'
				UNION ALL SELECT posts.account_id, coalesce(posts.key_id, ''), movements.day, ${usageUnit}, movements.sku, 0, 0, 0,
					movements.amount, movements.units, 1
				FROM movements JOIN posts ON posts.id = movements.post_id
			)
			SELECT account_id AS account, key_id AS key, day, unit, sku, ${sidesDiffer.columns} FROM sides
			WHERE day >= ${foldedBefore}
				AND NOT EXISTS (SELECT 1 FROM carry_forwards AS carried WHERE carried.account_id = sides.account_id AND carried.day = sides.day)
			GROUP BY account_id, key_id, day, unit, sku HAVING ${sidesDiffer.condition} LIMIT ${limit}`,
	},
	{
		name: "carried",
		message: "the amounts of days of which charges were archived, or that were made one, differ from what is carried and booked",
		query: (limit) => sql`
			WITH sides AS (
				SELECT account_id, unit, day, amount AS daily_amount, units AS daily_units, rows AS daily_rows,
					0 AS moved_amount, 0 AS moved_units, 0 AS moved_rows
				FROM usage_daily WHERE unit <> 'free'
				UNION ALL SELECT posts.account_id, ${usageUnit}, movements.day, 0, 0, 0, movements.amount, movements.units, 1
				FROM movements JOIN posts ON posts.id = movements.post_id
				UNION ALL SELECT account_id, CASE debit WHEN 'overrun' THEN 'overrun' ELSE unit END, day, 0, 0, 0, amount, units, rows
				FROM carry_forwards
			), days AS (SELECT sides.*, ${countedDay} AS counted_day FROM sides WHERE day <= ${lastCarriedDay})
			SELECT account_id AS account, unit, counted_day AS day, ${sidesDiffer.columns} FROM days
			GROUP BY account_id, unit, counted_day HAVING ${sidesDiffer.condition} LIMIT ${limit}`,
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
			FROM credits LEFT JOIN movements ON movements.id = credits.movement_id AND movements.kind = 'credit'
			WHERE movements.id IS NULL OR credits.amount <> movements.amount OR credits.account_id <> movements.credit
			UNION ALL SELECT NULL, NULL, id, amount FROM movements
			WHERE kind = 'credit' AND NOT EXISTS (SELECT 1 FROM credits WHERE movement_id = movements.id) LIMIT ${limit}`,
	},
	{
		name: "debits",
		message: "a debit and its movement differ",
		query: (limit) => sql`
			SELECT debits.reference AS reference, debits.amount AS debited, movements.id AS movement, movements.amount AS moved
			FROM debits LEFT JOIN movements ON movements.id = debits.movement_id AND ${isDebit}
			WHERE movements.id IS NULL OR debits.amount <> movements.amount OR debits.account_id <> movements.debit
			UNION ALL SELECT NULL, NULL, id, amount FROM movements
			WHERE ${isDebit} AND NOT EXISTS (SELECT 1 FROM debits WHERE movement_id = movements.id) LIMIT ${limit}`,
	},
	{
		name: "refunds",
		message: "a refund and its movement differ",
		query: (limit) => sql`
			SELECT refunds.reference AS reference, refunds.unit AS unit, refunds.amount AS refunded, movements.id AS movement,
				movements.amount AS moved
			FROM refunds LEFT JOIN movements ON movements.id = refunds.movement_id AND ${isRefund}
			WHERE movements.id IS NULL OR refunds.amount <> movements.amount OR refunds.account_id <> movements.credit
				OR refunds.unit <> movements.unit
			UNION ALL SELECT NULL, unit, NULL, id, amount FROM movements
			WHERE ${isRefund} AND NOT EXISTS (SELECT 1 FROM refunds WHERE movement_id = movements.id) LIMIT ${limit}`,
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
			SELECT allotments.account_id AS account, allotments.day AS day, allotments.amount AS allotted, movements.amount AS moved
			FROM allotments LEFT JOIN movements ON movements.id = allotments.movement_id AND movements.kind = 'allotment'
			WHERE movements.id IS NULL OR allotments.amount <> movements.amount OR allotments.account_id <> movements.credit
				OR allotments.day <> movements.day
			UNION ALL SELECT credit, day, NULL, amount FROM movements
			WHERE kind = 'allotment' AND NOT EXISTS (SELECT 1 FROM allotments WHERE movement_id = movements.id) LIMIT ${limit}`,
	},
	{
		name: "rejected",
		message: "a record of the journal could not be booked",
		query: (limit) => sql`
			SELECT id, node_id AS node, epoch, seq, error FROM rejected ORDER BY id LIMIT ${limit}`,
	},
];
