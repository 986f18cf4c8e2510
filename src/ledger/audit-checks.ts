/** The invariants of the books. Each query returns the rows that break its rule. */
import { type RawBuilder, sql } from "kysely";

export type AuditCheckName =
	| "balances"
	| "leases"
	| "applied"
	| "booked"
	| "daily"
	| "prices"
	| "charges"
	| "duplicates"
	| "credits"
	| "allotments"
	| "rejected";

export interface AuditCheck {
	readonly name: AuditCheckName;
	readonly message: string;
	readonly query: (limit: number) => RawBuilder<Record<string, unknown>>;
}

/** A budget has one row for all days, but for diem, which has one for each. */
const budgetDay = sql`CASE unit WHEN 'diem' THEN day ELSE 0 END`;

export const AUDIT_CHECKS: readonly AuditCheck[] = [
	{
		name: "balances",
		message: "a balance differs from the sum of its movements",
		query: (limit) => sql`
			WITH sides AS (
				SELECT credit AS account, unit, ${budgetDay} AS budget_day, amount FROM movements
				UNION ALL SELECT debit, unit, ${budgetDay}, -amount FROM movements
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
		// Not below: posts of a fenced boot may come when the next one has begun.
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
				coalesce(posted.found, 0) AS posts_found, rejects, coalesce(refused.found, 0) AS rejects_found, posted.last AS last_post_seq
			FROM nodes
				LEFT JOIN posted ON posted.node_id = nodes.node_id AND posted.epoch = nodes.epoch
				LEFT JOIN refused ON refused.node_id = nodes.node_id AND refused.epoch = nodes.epoch
			WHERE groups <> applied_seq - first_seq + 1 OR nodes.posts <> coalesce(posted.found, 0)
				OR rejects <> coalesce(refused.found, 0) OR coalesce(posted.last, 0) > applied_seq LIMIT ${limit}`,
	},
	{
		name: "daily",
		message: "a day's amounts differ from its movements",
		query: (limit) => sql`
			WITH moved AS (
				SELECT posts.account_id, coalesce(posts.key_id, '') AS key_id, movements.day AS day,
					CASE movements.kind WHEN 'overrun' THEN 'overrun' ELSE movements.unit END AS unit, movements.sku AS sku,
					sum(movements.amount) AS amount, sum(movements.units) AS units, count(*) AS row_count
				FROM movements JOIN posts ON posts.id = movements.post_id GROUP BY 1, 2, 3, 4, 5
			), daily AS (SELECT * FROM usage_daily WHERE unit <> 'free')
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
