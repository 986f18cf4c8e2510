import { type OperatorUsage, skuOf, type UsagePart } from "../../budgets/index.ts";
import { invalidField } from "../../schema/index.ts";
import type { Answer } from "../../server/endpoint.ts";
import { type CsvCell, csvLine } from "../../wire/index.ts";
import { addCharges, type ChargeSum, chargesView, NO_CHARGES } from "./charges.ts";
import type { ConsoleApiDeps } from "./deps.ts";
import { answer } from "./page.ts";
import type { UsageQuery } from "./schema.ts";
import type { UsageBy, UsageReport, UsageRow } from "./types.ts";
import { dayText, rangeOf } from "./when.ts";

/**
 * Maximum number of rows read, the most expensive ones. Grouping them takes some ten milliseconds of the event loop.
 */
const MAX_READ = 20_000;
const MAX_ROWS = 5_000;

/** GET /usage */
export async function usage(query: UsageQuery, deps: ConsoleApiDeps): Promise<Answer> {
	const report = await reportOf(query, deps);
	const truncated = report.truncated || report.rows.length > MAX_ROWS;
	return answer<UsageReport>({ ...report, rows: report.rows.slice(0, MAX_ROWS), truncated });
}

/** GET /usage.csv: the same rows. */
export async function usageCsv(query: UsageQuery, deps: ConsoleApiDeps): Promise<Answer> {
	const { by, rows, from, to } = await reportOf(query, deps);
	const columns = by.flatMap((part): readonly string[] => HEADS[part]);
	const lines = rows.map((row) => {
		const { usd, bundled, diem, overrun } = row;
		const units = Object.entries(row.units).map(([unit, count]) => `${count} ${unit}`);
		const amounts = [usd, bundled, diem, overrun].map((plain) => ({ plain }));
		return csvLine([...by.flatMap((part) => cellsOf(row, part)), ...amounts, units.join("; ")]);
	});
	const name = `usage-${from}-${to}-by-${by.join("-")}.csv`;
	return {
		status: 200,
		type: "text/csv; charset=utf-8",
		body: csvLine([...columns, "usd", "bundled", "diem", "overrun", "units"]) + lines.join(""),
		headers: { "Content-Disposition": `attachment; filename="${name}"` },
	};
}

const HEADS = { day: ["day"], model: ["model"], key: ["keyId", "key"], account: ["accountId", "account"] } as const;

function cellsOf(row: UsageRow, part: UsageBy): CsvCell[] {
	if (part === "day") return [row.day ?? null];
	if (part === "model") return [row.model ?? null];
	if (part === "key") return [row.key?.id ?? null, row.key?.description ?? null];
	return [row.account?.id ?? null, row.account?.name ?? null];
}

async function reportOf(query: UsageQuery, { reader }: ConsoleApiDeps): Promise<UsageReport> {
	const range = rangeOf(query, reader.today());
	const by = partsOf(query.by ?? "day");
	const { accountId, keyId, model } = query;
	const filter = { ...range, ...(accountId ? { accountId } : {}), ...(keyId ? { keyId } : {}), limit: MAX_READ };
	const read = [...by.filter((part): part is Exclude<UsageBy, "model"> => part !== "model"), "sku"] satisfies UsagePart[];
	const [sums, all] = await Promise.all([
		reader.usage({ ...filter, by: read }),
		reader.usage({ ...filter, by: model ? ["sku"] : [] }),
	]);
	const ofModel = (row: OperatorUsage) => !model || subjectOf(row) === model;
	return {
		from: dayText(range.firstDay),
		to: dayText(range.lastDay),
		by,
		rows: rowsOf(sums.filter(ofModel), by),
		total: chargesView(all.filter(ofModel).reduce(addCharges, NO_CHARGES)),
		truncated: sums.length >= MAX_READ,
	};
}

/**
 * Returns the columns to group by.
 * @throws ApiError 400 where one is repeated
 */
function partsOf(text: string): UsageBy[] {
	const parts = text.split(",") as UsageBy[];
	if (new Set(parts).size < parts.length) throw invalidField(["by"], "names a part twice");
	return parts;
}

interface Group {
	readonly first: OperatorUsage;
	charges: ChargeSum;
	readonly units: Record<string, number>;
}

/** Returns the sums of rows that are equal in all columns. */
function rowsOf(sums: readonly OperatorUsage[], by: readonly UsageBy[]): UsageRow[] {
	const groups = new Map<string, Group>();
	for (const row of sums) {
		const name = JSON.stringify(by.map((part) => partOf(row, part)));
		const group = groups.get(name) ?? { first: row, charges: NO_CHARGES, units: {} };
		groups.set(name, group);
		group.charges = addCharges(group.charges, row);
		const unit = unitOf(row.sku ?? "");
		if (row.units > 0) group.units[unit] = (group.units[unit] ?? 0) + row.units;
	}
	const all = [...groups.values()].sort((a, b) => priceOf(b.charges) - priceOf(a.charges));
	if (by.includes("day")) all.sort((a, b) => (a.first.day ?? 0) - (b.first.day ?? 0));
	return all.map(({ first, charges, units }) => ({
		...(by.includes("day") && first.day !== null ? { day: dayText(first.day) } : {}),
		...(by.includes("model") ? { model: subjectOf(first) } : {}),
		...(first.key === null || !by.includes("key")
			? {}
			: { key: { id: first.key.id, description: first.key.description, last6Chars: first.key.last6 } }),
		...(first.account === null || !by.includes("account") ? {} : { account: first.account }),
		...chargesView(charges),
		units,
	}));
}

function partOf(row: OperatorUsage, part: UsageBy): string | number | null {
	if (part === "day") return row.day;
	if (part === "model") return subjectOf(row);
	return part === "key" ? (row.key?.id ?? null) : (row.account?.id ?? null);
}

function priceOf({ usd, bundled, diem, overrun }: ChargeSum): number {
	return usd + bundled + diem + overrun;
}

/** Returns the model, or the other service used. */
function subjectOf(row: OperatorUsage): string {
	return skuOf(row.sku ?? "").subject;
}

/** Returns a sku's unit: `input tokens`, `images`, `credits`, ... */
function unitOf(sku: string): string {
	const { part, unitType } = skuOf(sku);
	return part === null ? unitType : `${part} ${unitType}`;
}
