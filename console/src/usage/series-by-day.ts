import type { UsageReport, UsageRow } from "../../../src/routes/console/types.ts";
import type { ChartSeries } from "../parts/chart-series.ts";

/** The number of colours in the design tokens; the last one is for the rest. */
const MOST = 8;
const DAY_MS = 86_400_000;

/**
 * Returns the charges per day of a report, without gaps, in USD as floats for drawing. There is a series for each of the most
 * expensive models, keys or accounts (whatever the report groups by), and one for the others.
 */
export function seriesByDay(report: UsageReport): { readonly at: number[]; readonly series: ChartSeries[] } {
	const first = Date.parse(report.from);
	const days = Array.from(
		{ length: Math.round((Date.parse(report.to) - first) / DAY_MS) + 1 },
		(_, index) => first + index * DAY_MS,
	);
	const totals = new Map<string, number>();
	for (const row of report.rows) totals.set(nameOf(row), (totals.get(nameOf(row)) ?? 0) + charged(row));
	const names = [...totals].sort(([, a], [, b]) => b - a).map(([name]) => name);
	const own = names.length > MOST ? names.slice(0, MOST - 1) : names;
	const labels = names.length > MOST ? [...own, "others"] : own;
	const values = labels.map(() => days.map(() => 0));
	for (const row of report.rows) {
		const place = own.indexOf(nameOf(row));
		const line = values[place === -1 ? labels.length - 1 : place];
		const day = Math.round((Date.parse(row.day ?? report.from) - first) / DAY_MS);
		if (line?.[day] !== undefined) line[day] += charged(row);
	}
	return {
		at: days.map((ms) => ms / 1_000),
		series: labels.map((label, index) => ({ label, values: values[index] ?? [], colour: index + 1 })),
	};
}

const charged = ({ usd, bundled, diem }: UsageRow): number => Number(usd) + Number(bundled) + Number(diem);

function nameOf({ model, key, account }: UsageRow): string {
	const parts = [
		...(model === undefined ? [] : [model]),
		...(key === undefined ? [] : [key.id === null ? "wallets" : key.description === "" ? `…${key.last6Chars}` : key.description]),
		...(account === undefined ? [] : [account.name === "" ? account.id : account.name]),
	];
	return parts.length === 0 ? "charged" : parts.join(", ");
}
