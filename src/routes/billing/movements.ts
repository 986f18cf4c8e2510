import Type from "typebox";
import { NANO_PER_USD, type StatementMovement } from "../../budgets/index.ts";
import { named } from "../../schema/named-schema.ts";
import type { Call } from "../../server/call.ts";
import { type Answer, json } from "../../server/endpoint.ts";
import { type CsvCell, csvLine, decimalText } from "../../wire/index.ts";
import { wantsCsv } from "./accept.ts";
import { type CursorContent, openCursor, sealCursor } from "./cursor.ts";
import { type BillingDeps, callerOf } from "./deps.ts";
import { CURRENCIES } from "./entry.ts";
import { filtersOf, requireCursorAlone } from "./filters.ts";
import type { MovementsQuery } from "./schema.ts";
import { csvPage } from "./usage-history.ts";

const MovementSchema = named(
	"Movement",
	Type.Object({
		timestamp: Type.String({ format: "date-time" }),
		type: Type.Enum(["CREDIT", "DEBIT", "REFUND"]),
		amount: Type.Number({ description: "Negative: a debit" }),
		currency: Type.Enum(["USD", "DIEM", "BUNDLED_CREDITS"]),
		balanceAfter: Type.Number({ description: "The balance of that currency right after it" }),
		reference: Type.String({ description: "The operator's reference" }),
		requestId: Type.Union([Type.String(), Type.Null()], { description: "For a refund: the charged request" }),
	}),
);

export const MovementsSchema = named(
	"Movements",
	Type.Object({
		data: Type.Array(MovementSchema),
		nextCursor: Type.Union([Type.String({ maxLength: 512 }), Type.Null()], { description: "null on the last page" }),
	}),
);

const FILTERS = ["currency", "startTimestamp", "endTimestamp", "sortOrder", "pageSize"] as const;
const DEFAULT_PAGE_SIZE = 1000;
/** Name of this list in its cursors: those of other lists are refused. */
const LIST = "movements";

/**
 * GET /billing/movements: credits, debits and refunds of the account, newest first unless the order is `asc`. Together
 * with the charges they add up to its balance.
 */
export async function movements(query: MovementsQuery, call: Call, { statements, clock }: BillingDeps): Promise<Answer> {
	const accountId = callerOf(call).account.id;
	const secret = await statements.cursorSecret();
	const owner = `${LIST} of ${accountId}`;
	const { pageSize, ...place } =
		query.cursor === undefined ? firstPage(query) : followingPage(query, openCursor(query.cursor, owner, secret, clock.wallMs()));
	const rows = await statements.movements({ ...place, accountId, limit: pageSize + 1 });
	const entries = rows.slice(0, pageSize);
	const last = rows.length > pageSize ? entries.at(-1) : undefined;
	const after = last === undefined ? null : { ...place, pageSize, after: last.place };
	const nextCursor = after === null ? null : sealCursor(after, owner, secret, clock.wallMs());
	if (wantsCsv(call.request.headers.get("accept"))) return csvPage("billing-movements", csvOf(entries), nextCursor, call);
	return json({ data: entries.map(movementView), nextCursor });
}

function firstPage(query: MovementsQuery) {
	const { sortOrder: order = "desc", pageSize = DEFAULT_PAGE_SIZE } = query;
	return { ...filtersOf(query), order, after: null, pageSize };
}

function followingPage(query: MovementsQuery, { fromMs = null, order = "desc", ...place }: CursorContent) {
	requireCursorAlone(query, FILTERS);
	return { ...place, fromMs, order };
}

function movementView(entry: StatementMovement) {
	const { kind, source, amount, balanceAfter, reference, requestId, bookedAtMs } = entry;
	return {
		timestamp: new Date(bookedAtMs).toISOString(),
		type: kind.toUpperCase(),
		amount: ((kind === "debit" ? -1 : 1) * amount) / NANO_PER_USD,
		currency: CURRENCIES[source],
		balanceAfter: balanceAfter / NANO_PER_USD,
		reference,
		requestId,
	};
}

const CSV_COLUMNS = ["timestamp", "type", "amount", "currency", "balanceAfter", "reference", "requestId"];

function csvOf(entries: readonly StatementMovement[]): string {
	return [csvLine(CSV_COLUMNS), ...entries.map((entry) => csvLine(csvCells(entry)))].join("");
}

/** Returns a movement as CSV cells; numbers are exact decimals. */
function csvCells({ kind, source, amount, balanceAfter, reference, requestId, bookedAtMs }: StatementMovement): CsvCell[] {
	return [
		new Date(bookedAtMs).toISOString(),
		kind.toUpperCase(),
		{ plain: `${kind === "debit" ? "-" : ""}${decimalText(amount, 9)}` },
		CURRENCIES[source],
		{ plain: decimalText(balanceAfter, 9) },
		reference,
		requestId ?? "",
	];
}
