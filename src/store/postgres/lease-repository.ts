/**
 * Leases on PostgreSQL: what each node may spend without calling the store. Rows are locked in the order of their
 * keys.
 */
import type { SQL } from "bun";
import { nano } from "../../ledger/nano.ts";
import type { NodeEpoch } from "../core/batch-applier.ts";
import { DAY_MS } from "../core/day.ts";
import { decideLease } from "../core/lease-decision.ts";
import type { RetainedLeases } from "../core/lease-split.ts";
import { decideGiveBack } from "../core/lease-split.ts";
import type { LeaseRequest } from "../core/store.ts";
import { FencedError } from "../core/store-faults.ts";
import type { AcquireRequest, AcquireResult, BudgetState } from "../types.ts";
import { stakeOf, writeAllotments } from "./allotments.ts";
import { type CapHeadrooms, cutCaps, growCaps, headroomOf, lockCaps } from "./cap-table.ts";
import { inTransaction } from "./connect.ts";

/** A lost lease is replaced from free money, so its commit need not wait for a disk. */
const BEGIN = "BEGIN; SET LOCAL synchronous_commit = off";

type Source = BudgetState["source"];

interface BudgetRow {
	readonly account_id: string;
	readonly source: Source;
	readonly day: bigint;
	readonly balance: bigint;
	readonly leased: bigint;
}

interface BudgetPlace {
	readonly accountId: string;
	readonly source: Source;
	readonly day: number;
}

/** The amount by which this node's lease on a budget changes. */
interface LeaseChange extends BudgetPlace {
	readonly by: number;
}

type ByAccount<T> = ReadonlyMap<string, readonly T[]>;

export class LeaseRepository {
	readonly #node: NodeEpoch;

	constructor(node: NodeEpoch) {
		this.#node = node;
	}

	/**
	 * Runs this node's lease calls, each on another account, in one transaction and in the order of `requests`. Budgets are
	 * locked in the order of their keys, so that two nodes never wait for each other.
	 *
	 * `acquire` leases what a request lacks, all or none, with a surplus where the account has plenty, and writes the
	 * day's allotment at its first use. It sets `recalled` where the need was not met and other nodes hold money of the
	 * account. `giveBack` cuts the leases on an account down to the retained amounts. Where the store has less than that (it
	 * lost the lease in a failover), the lease stays as it is: posts beyond it are paid from free money.
	 *
	 * Where the key of a request has limits, money and limits are leased together or not at all; keys are locked after
	 * all budgets.
	 *
	 * Throws `FencedError`.
	 */
	execute(sql: SQL, requests: readonly LeaseRequest[], liveNodes: number): Promise<AcquireResult[]> {
		const acquires = requests.flatMap((request) => (request.name === "acquire" ? [request.arguments] : []));
		const returns = requests.flatMap((request) => (request.name === "giveBack" ? [request.arguments] : []));
		const idsOf = (some: readonly { readonly accountId: string }[]): string[] => some.map(({ accountId }) => accountId);
		return inTransaction(
			sql,
			async (tx) => {
				const first = [this.#alive(tx), writeAllotments(tx, acquires), this.#leases(tx, idsOf(returns))] as const;
				// Where one statement fails, the others must not write after the end of the transaction.
				await Promise.allSettled(first);
				const [, , held] = await Promise.all(first);
				const places = [
					...acquires.flatMap(({ accountId, day }) => placesOf(accountId, [day])),
					...idsOf(returns).flatMap((accountId) => (held.get(accountId) ?? []).map((lease) => ({ ...lease, accountId }))),
				];
				const [budgets, leases, headrooms] = await Promise.all([
					readBudgets(tx, places, LOCKED_BUDGETS),
					this.#leases(tx, idsOf(requests.map((request) => request.arguments))),
					lockCaps(
						tx,
						this.#node,
						acquires.flatMap(({ day, cap }) => (cap === undefined ? [] : [{ keyId: cap.keyId, day }])),
					),
				]);
				const acquired = acquires.map((request) => decideLocked(request, budgets, leases, headrooms, liveNodes));
				// A budget that is not locked was leased meanwhile, by an abandoned call: the next return finds it.
				const known = new Map(
					returns.map(({ accountId }) => [
						accountId,
						(leases.get(accountId) ?? []).filter(({ source, day }) =>
							budgets.get(accountId)?.some((budget) => budget.source === source && Number(budget.day) === day),
						),
					]),
				);
				const changes = [
					...acquires.flatMap(({ accountId }, index) =>
						(acquired[index]?.grants ?? []).map(({ source, day, granted }) => ({ accountId, source, day, by: granted })),
					),
					...returns.flatMap(({ accountId, retained }) =>
						decideGiveBack(known.get(accountId) ?? [], retained).map(({ source, day, amount }) => ({
							accountId,
							source,
							day,
							by: -amount,
						})),
					),
				];
				const capGrants = acquires.flatMap(({ accountId, day, cap: request }, index) => {
					const cap = acquired[index]?.cap;
					return request === undefined || cap === undefined
						? []
						: [{ accountId, day, keyId: request.keyId, granted: cap.granted }];
				});
				await Promise.all([this.#change(tx, changes), growCaps(tx, this.#node, capGrants), cutCaps(tx, this.#node, returns)]);
				const returned = await this.#returned(tx, known);
				return requests.map((request) => {
					const of =
						request.name === "acquire"
							? acquired[acquires.indexOf(request.arguments)]
							: returned[returns.indexOf(request.arguments)];
					if (of === undefined) throw new Error("a question has no answer");
					return of;
				});
			},
			BEGIN,
		);
	}

	/** Returns balances without leasing; today's diem is included before its first use. */
	async budgets(sql: SQL, accountId: string, day: number): Promise<readonly BudgetState[]> {
		const states = [...(await sql.unsafe(BUDGETS_OF_ACCOUNT, [accountId, day]))].map(stateOf);
		if (states.some((state) => state.source === "diem")) return states;
		const stake = await stakeOf(sql, accountId, day);
		return stake === 0 ? states : [{ source: "diem", day, balance: nano(stake), free: nano(stake) }, ...states];
	}

	/** Locks the term's row against a reaper until the transaction ends. */
	async #alive(tx: SQL): Promise<void> {
		const rows = await tx.unsafe("SELECT 1 FROM node_terms WHERE node_id = $1 AND epoch = $2 AND fenced_at IS NULL FOR SHARE", [
			this.#node.id,
			this.#node.epoch,
		]);
		if (rows.length === 0) throw new FencedError();
	}

	/** Returns this node's leases. */
	async #leases(tx: SQL, accountIds: readonly string[]): Promise<ByAccount<RetainedLeases>> {
		if (accountIds.length === 0) return new Map();
		const rows = await tx.unsafe(
			`SELECT account_id, source, day, amount FROM leases WHERE node_id = $1 AND epoch = $2 AND account_id = ANY($3::text[])
				ORDER BY account_id, source, day`,
			[this.#node.id, this.#node.epoch, tx.array([...accountIds], "TEXT")],
		);
		const leases = new Map<string, RetainedLeases[]>();
		for (const { account_id, source, day, amount } of rows)
			add(leases, account_id, { source, day: Number(day), amount: Number(amount) });
		return leases;
	}

	async #change(tx: SQL, changes: readonly LeaseChange[]): Promise<void> {
		const write = async (text: string, some: readonly LeaseChange[]): Promise<void> => {
			if (some.length === 0) return;
			const by = tx.array(
				some.map((change) => change.by),
				"INT8",
			);
			await tx.unsafe(text, [this.#node.id, this.#node.epoch, ...placeArrays(tx, some), by]);
		};
		await Promise.all([
			write(
				GROW,
				changes.filter(({ by }) => by > 0),
			),
			write(
				SHRINK,
				changes.filter(({ by }) => by < 0),
			),
		]);
	}

	/** Returns the answers of returns: the accounts' budgets, including the diem of today and of each leased day. */
	async #returned(tx: SQL, known: ByAccount<RetainedLeases>): Promise<AcquireResult[]> {
		if (known.size === 0) return [];
		const today = Math.floor(Date.now() / DAY_MS);
		const days = new Map(
			[...known].map(([accountId, leases]) => [
				accountId,
				[...new Set([today, ...leases.flatMap(({ source, day }) => (source === "diem" ? [day] : []))])],
			]),
		);
		const [, budgets] = await Promise.all([
			tx.unsafe("DELETE FROM leases WHERE node_id = $1 AND epoch = $2 AND account_id = ANY($3::text[]) AND amount = 0", [
				this.#node.id,
				this.#node.epoch,
				tx.array([...known.keys()], "TEXT"),
			]),
			readBudgets(
				tx,
				[...days].flatMap(([accountId, some]) => placesOf(accountId, some)),
				BUDGETS,
			),
		]);
		return [...days].map(([accountId, some]) => ({
			grants: [],
			budgets: [...(budgets.get(accountId) ?? [])]
				.sort((a, b) => RANK[a.source] - RANK[b.source] || some.indexOf(Number(a.day)) - some.indexOf(Number(b.day)))
				.map(stateOf),
		}));
	}
}

/** Decides an acquire on the account's locked budgets, and on this node's leases of them. */
function decideLocked(
	request: AcquireRequest,
	locked: ByAccount<BudgetRow>,
	leases: ByAccount<RetainedLeases>,
	headrooms: CapHeadrooms,
	liveNodes: number,
): AcquireResult {
	const { accountId, cap, day } = request;
	const rows = [...(locked.get(accountId) ?? [])].sort((a, b) => RANK[a.source] - RANK[b.source]);
	const headroom = cap === undefined ? null : headroomOf(headrooms, { keyId: cap.keyId, day });
	return decideLease(request, { budgets: rows.map(stateOf), ownLeases: leases.get(accountId) ?? [], headroom }, liveNodes);
}

const RANK: Record<Source, number> = { diem: 0, bundled: 1, usd: 2 };

/** Returns the budgets that an account's money may be in: its diem of these days, bundled credit and USD. */
function placesOf(accountId: string, days: readonly number[]): BudgetPlace[] {
	return [
		...days.map((day): BudgetPlace => ({ accountId, source: "diem", day })),
		{ accountId, source: "bundled", day: 0 },
		{ accountId, source: "usd", day: 0 },
	];
}

/** Returns the existing budgets of these places. */
async function readBudgets(tx: SQL, places: readonly BudgetPlace[], text: string): Promise<ByAccount<BudgetRow>> {
	if (places.length === 0) return new Map();
	const rows: BudgetRow[] = await tx.unsafe(text, placeArrays(tx, places));
	const budgets = new Map<string, BudgetRow[]>();
	for (const row of rows) add(budgets, row.account_id, row);
	return budgets;
}

function placeArrays(tx: SQL, places: readonly BudgetPlace[]): unknown[] {
	const of = (pick: (place: BudgetPlace) => string | number, type: "TEXT" | "INT8") => tx.array(places.map(pick), type);
	return [of((place) => place.accountId, "TEXT"), of((place) => place.source, "TEXT"), of((place) => place.day, "INT8")];
}

function add<T>(to: Map<string, T[]>, accountId: string, one: T): void {
	const before = to.get(accountId);
	if (before === undefined) to.set(accountId, [one]);
	else before.push(one);
}

function stateOf(row: BudgetRow): BudgetState {
	return {
		source: row.source,
		day: Number(row.day),
		balance: nano(Number(row.balance)),
		free: nano(Number(row.balance - row.leased)),
	};
}

const BUDGETS = `SELECT account_id, source, day, balance, leased FROM budgets
	WHERE (account_id, source, day) IN (SELECT * FROM unnest($1::text[], $2::text[], $3::int8[]))
	ORDER BY account_id, source, day`;
const LOCKED_BUDGETS = `${BUDGETS} FOR NO KEY UPDATE`;

/** Budgets in spending order. */
const BUDGETS_OF_ACCOUNT = `SELECT account_id, source, day, balance, leased FROM budgets
	WHERE account_id = $1 AND (source <> 'diem' OR day = $2)
	ORDER BY CASE source WHEN 'diem' THEN 0 WHEN 'bundled' THEN 1 ELSE 2 END`;

const CHANGE = `change AS (
		SELECT * FROM unnest($3::text[], $4::text[], $5::int8[], $6::int8[]) AS part (account_id, source, day, by)
	)`;
const CHANGE_LEASED = `UPDATE budgets SET leased = leased + change.by FROM change
	WHERE budgets.account_id = change.account_id AND budgets.source = change.source AND budgets.day = change.day`;

const GROW = `WITH ${CHANGE}, lease AS (
		INSERT INTO leases (node_id, epoch, account_id, source, day, amount)
		SELECT $1, $2::int8, account_id, source, day, by FROM change
		ON CONFLICT (node_id, epoch, account_id, source, day) DO UPDATE SET amount = leases.amount + excluded.amount
	)
	${CHANGE_LEASED}`;

const SHRINK = `WITH ${CHANGE}, lease AS (
		UPDATE leases SET amount = leases.amount + change.by FROM change
		WHERE leases.node_id = $1 AND leases.epoch = $2 AND leases.account_id = change.account_id
			AND leases.source = change.source AND leases.day = change.day
	)
	${CHANGE_LEASED}`;
