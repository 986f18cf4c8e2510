import { randomUUID } from "node:crypto";
import type { Transaction } from "kysely";
import type { MoneySource } from "../../journal/records.ts";
import { formatNano, type Nano, nano } from "../../ledger/nano.ts";
import { REVENUE, type Tables } from "../tables.ts";
import { amountToMove } from "./amounts.ts";
import { noteChange } from "./changes.ts";
import { AdminError } from "./errors.ts";
import { issue } from "./movements.ts";
import type { AdminStore } from "./open-admin.ts";
import { checkReference, referenceUsed, refuseOtherUse } from "./references.ts";

export interface RefundRequest {
	/** The X-Request-ID of the charged request. */
	readonly requestId: string;
	/** The account that must have made the request; left out: any. */
	readonly accountId?: string;
	/** USD (diem) as decimal text; left out: everything that was not refunded yet. */
	readonly amount?: string;
	/** Left out: the request's own reference for a full refund, else a new one. */
	readonly reference?: string;
}

export interface RefundPart {
	readonly source: MoneySource;
	readonly amount: Nano;
	/** Balance of that source right after it; for diem, of the day that it came from. */
	readonly balanceAfter: Nano;
}

export interface Refunded {
	readonly accountId: string;
	readonly requestId: string;
	readonly reference: string;
	/** Sum of all parts; one diem counts as one USD. */
	readonly amount: Nano;
	readonly parts: readonly RefundPart[];
	/** Unix milliseconds. */
	readonly bookedAtMs: number;
	/** True where it was refunded before under this reference, and nothing was moved now. */
	readonly replayed: boolean;
}

interface Post {
	readonly id: bigint;
	readonly account_id: string;
	readonly day: bigint;
}

/** Money that expires is returned last. */
const RETURN_ORDER: readonly MoneySource[] = ["usd", "bundled", "diem"];

/**
 * Refunds what a request was charged, or a part of it, once for each reference: to the sources it came from, USD
 * first, diem last and to its day. All refunds of a request together never exceed its charge. A repeat returns the
 * first refund, `replayed`. Throws `AdminError`: NOT_FOUND, INVALID, REFERENCE_USED.
 */
export async function refund(admin: AdminStore, request: RefundRequest): Promise<Refunded> {
	const requestedAmount = request.amount === undefined ? null : amountToMove(request.amount, "refund");
	const ownName = requestedAmount === null ? `refund:${request.requestId}` : `refund-${randomUUID()}`;
	const reference = checkReference(request.reference ?? ownName);
	return admin.db.transaction().execute(async (tx) => {
		const post = await requirePost(tx, request);
		const replay = await findRefund(tx, reference, post, request.requestId, requestedAmount);
		if (replay !== null) return replay;
		await refuseOtherUse(tx, reference, "refunds");
		const parts = split(await remainingCharge(tx, post), requestedAmount);
		const atMs = admin.wallMs();
		const refundParts: RefundPart[] = [];
		// This is the order in which nodes lock budgets.
		for (const source of [...parts.keys()].sort()) {
			const amount = nano(Number(parts.get(source)));
			const to = { kind: "grant", from: REVENUE, accountId: post.account_id, source, amount, atMs } as const;
			const { balance, movementId } = await issue(tx, source === "diem" ? { ...to, diemDay: Number(post.day) } : to);
			await tx
				.insertInto("refunds")
				.values({
					reference,
					unit: source,
					account_id: post.account_id,
					post_id: post.id,
					amount,
					movement_id: movementId,
					created_at: atMs,
				})
				.execute();
			refundParts.push({ source, amount, balanceAfter: nano(Number(balance)) });
		}
		await noteChange(tx, { kind: "account", accountId: post.account_id }, atMs);
		return refunded(post, request.requestId, reference, refundParts, atMs, false);
	});
}

async function requirePost(tx: Transaction<Tables>, { requestId, accountId }: RefundRequest): Promise<Post> {
	const post = await tx
		.selectFrom("posts")
		.select(["id", "account_id", "day"])
		.where("request_id", "=", requestId)
		.executeTakeFirst();
	if (post === undefined || (accountId !== undefined && post.account_id !== accountId)) {
		const ofAccount = accountId === undefined ? "" : ` of ${accountId}`;
		throw new AdminError(
			"NOT_FOUND",
			`there is no booked request ${requestId}${ofAccount}; archived requests cannot be refunded`,
		);
	}
	return post;
}

/**
 * Returns the rest of a post's charge by source: without the operator's part (`overrun`), and less all refunds, or
 * those up to a movement.
 */
async function remainingCharge(tx: Transaction<Tables>, post: Post, upTo?: bigint): Promise<Map<MoneySource, bigint>> {
	const remaining = new Map<MoneySource, bigint>();
	const charges = await tx
		.selectFrom("movements")
		.select(["unit", "amount"])
		.where("post_id", "=", post.id)
		.where("kind", "=", "charge")
		.execute();
	for (const { unit, amount } of charges) remaining.set(unit, (remaining.get(unit) ?? 0n) + amount);
	let refunds = tx.selectFrom("refunds").select(["unit", "amount"]).where("post_id", "=", post.id);
	if (upTo !== undefined) refunds = refunds.where("movement_id", "<=", upTo);
	for (const { unit, amount } of await refunds.execute()) remaining.set(unit, (remaining.get(unit) ?? 0n) - amount);
	return remaining;
}

function sum(remaining: ReadonlyMap<MoneySource, bigint>): bigint {
	return [...remaining.values()].reduce((total, amount) => total + amount, 0n);
}

function split(remaining: ReadonlyMap<MoneySource, bigint>, requestedAmount: Nano | null): Map<MoneySource, bigint> {
	const all = sum(remaining);
	if (all === 0n) throw new AdminError("INVALID", "nothing of this request is left to refund");
	let rest = requestedAmount === null ? all : BigInt(requestedAmount);
	if (rest > all) throw new AdminError("INVALID", `only ${formatNano(all, 0)} of this request is left to refund`);
	const parts = new Map<MoneySource, bigint>();
	for (const source of RETURN_ORDER) {
		const available = remaining.get(source) ?? 0n;
		const part = rest < available ? rest : available;
		if (part > 0n) parts.set(source, part);
		rest -= part;
	}
	if (rest > 0n) throw new Error(`a refund knows no way back for ${rest} nano of ${[...remaining.keys()].join(", ")}`);
	return parts;
}

async function findRefund(
	tx: Transaction<Tables>,
	reference: string,
	post: Post,
	requestId: string,
	requestedAmount: Nano | null,
): Promise<Refunded | null> {
	const rows = await tx
		.selectFrom("refunds")
		.innerJoin("movements", "movements.id", "refunds.movement_id")
		.select(["refunds.unit", "refunds.amount", "refunds.post_id", "refunds.account_id", "refunds.created_at"])
		.select(["refunds.movement_id", "movements.balance_after"])
		.where("reference", "=", reference)
		.orderBy("refunds.movement_id")
		.execute();
	const [first] = rows;
	const last = rows.at(-1);
	if (first === undefined || last === undefined) return null;
	const amount = rows.reduce((total, row) => total + row.amount, 0n);
	const same =
		requestedAmount === null ? sum(await remainingCharge(tx, post, last.movement_id)) === 0n : amount === BigInt(requestedAmount);
	if (first.post_id !== post.id || !same) {
		throw referenceUsed(reference, `a refund of ${formatNano(amount)} of another request or amount, of ${first.account_id}`);
	}
	const parts = rows.map((row) => ({
		source: row.unit,
		amount: nano(Number(row.amount)),
		balanceAfter: nano(Number(row.balance_after)),
	}));
	return refunded(post, requestId, reference, parts, Number(first.created_at), true);
}

function refunded(
	post: Post,
	requestId: string,
	reference: string,
	parts: readonly RefundPart[],
	bookedAtMs: number,
	replayed: boolean,
): Refunded {
	const amount = nano(parts.reduce((total, part) => total + part.amount, 0));
	return { accountId: post.account_id, requestId, reference, amount, parts, bookedAtMs, replayed };
}
