import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { UsageBy, UsageReport, UsageRow } from "../../../src/routes/console/types.ts";
import { queryOf } from "../api/call.ts";
import { queries } from "../api/queries.ts";
import { dollars, shortDollars, sumOf } from "../format/amount.ts";
import { utcDay } from "../format/instant.ts";
import { count } from "../format/quantity.ts";
import { Amount } from "../parts/amount.tsx";
import { Chart } from "../parts/chart.tsx";
import { DayRange } from "../parts/day-range.tsx";
import { Check, TextField } from "../parts/field.tsx";
import { Empty, Loaded } from "../parts/loaded.tsx";
import { Figure, Figures, Page } from "../parts/page.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { useSearchTexts } from "../parts/use-search-texts.ts";
import { useSettled } from "../parts/use-settled.ts";
import { seriesByDay } from "../usage/series-by-day.ts";

const BY: readonly { readonly value: UsageBy; readonly text: string }[] = [
	{ value: "day", text: "day" },
	{ value: "model", text: "model" },
	{ value: "key", text: "key" },
	{ value: "account", text: "account" },
];
/** The number of rows shown; a spreadsheet can load the rest. */
const SHOWN = 500;

/** Spending by account, day and purpose. */
export function UsagePage(): ReactNode {
	const [search, set] = useSearchTexts("from", "to", "by", "accountId", "keyId", "model");
	const from = search.from ?? utcDay(-29);
	const to = search.to ?? utcDay();
	const by = BY.flatMap(({ value }) => ((search.by ?? "day").split(",").includes(value) ? [value] : []));
	const filter = { accountId: search.accountId, keyId: search.keyId, model: search.model };
	const settledQuery = useSettled(JSON.stringify({ from, to, by: by.join(","), ...filter }));
	const query = useQuery({ ...queries.usage(JSON.parse(settledQuery)), placeholderData: (before) => before });

	const toggle = (value: UsageBy, on: boolean) => {
		const next = on ? [...by, value] : by.filter((each) => each !== value);
		// The server groups by at least one and at most three columns.
		if (next.length > 0) set({ by: next.slice(-3).join(",") });
	};
	return (
		<Page
			title="Usage"
			says="From the books of all nodes. Days are UTC."
			actions={
				<a className="button" href={`/console/api/usage.csv${queryOf({ from, to, by: by.join(","), ...filter })}`} download>
					Download CSV
				</a>
			}
		>
			<div className="sheet sheet-pad form">
				<DayRange from={from} to={to} onChange={set} />
				<div className="inline-fields">
					<TextField
						label="Model"
						type="search"
						value={search.model ?? ""}
						onChange={(model) => set({ model })}
						placeholder="any"
					/>
					<TextField
						label="Account"
						type="search"
						value={search.accountId ?? ""}
						onChange={(accountId) => set({ accountId })}
						placeholder="acc_…"
					/>
					<TextField
						label="Key"
						type="search"
						value={search.keyId ?? ""}
						onChange={(keyId) => set({ keyId })}
						placeholder="key id"
					/>
					<fieldset className="plain">
						<legend className="field-label">A row for each</legend>
						<div className="inline-fields by">
							{BY.map(({ value, text }) => (
								<Check key={value} label={text} value={by.includes(value)} onChange={(on) => toggle(value, on)} />
							))}
						</div>
					</fieldset>
				</div>
			</div>
			<Loaded query={query}>{(report) => <Report report={report} />}</Loaded>
		</Page>
	);
}

function Report({ report }: { readonly report: UsageReport }) {
	const { total, rows } = report;
	return (
		<>
			<Figures>
				<Figure name="Charged">
					<Amount value={sumOf([total.usd, total.bundled, total.diem])} />
				</Figure>
				<Figure name="in USD">
					<Amount value={total.usd} />
				</Figure>
				<Figure name="in bundled credit">
					<Amount value={total.bundled} />
				</Figure>
				<Figure name="in diem">
					<Amount value={total.diem} unit="diem" />
				</Figure>
				<Figure name="Overrun" note="charges that customers could not pay">
					<Amount value={total.overrun} />
				</Figure>
			</Figures>
			{rows.length === 0 ? (
				<Empty title="No usage on these days">Try other days, or fewer filters.</Empty>
			) : (
				<>
					<Drawn report={report} />
					<Table label="Usage" columns={columnsOf(report.by)} rows={rows.slice(0, SHOWN)} rowKey={rowName} />
					<div className="table-foot">
						{report.truncated || rows.length > SHOWN
							? `The first ${count(Math.min(rows.length, SHOWN))} rows; the CSV has all of them.`
							: `${count(rows.length)} rows`}
					</div>
				</>
			)}
		</>
	);
}

function Drawn({ report }: { readonly report: UsageReport }) {
	if (!report.by.includes("day")) return null;
	const { at, series } = seriesByDay(report);
	return (
		<Chart
			title="Charges by day"
			at={at}
			series={series}
			kind="stack"
			axis="days"
			height={230}
			format={dollars}
			axisFormat={shortDollars}
		/>
	);
}

const charged = ({ usd, bundled, diem }: UsageRow): string => sumOf([usd, bundled, diem]);

const rowName = ({ day, model, key, account }: UsageRow): string =>
	[day, model, key?.id, key?.description, account?.id].join(" ");

function columnsOf(by: readonly UsageBy[]): readonly Column<UsageRow>[] {
	const apart: Readonly<Record<UsageBy, Column<UsageRow>>> = {
		day: { name: "Day (UTC)", cell: ({ day }) => day, sortBy: ({ day }) => day ?? "" },
		model: { name: "Model", cell: ({ model }) => <span className="break">{model}</span>, sortBy: ({ model }) => model ?? "" },
		key: {
			name: "Key",
			cell: ({ key }) =>
				key === undefined || key.id === null ? (
					<span className="quiet">a wallet, without a key</span>
				) : (
					<>
						<span className="break">{key.description === "" ? "no description" : key.description}</span>
						<span className="sub mono">…{key.last6Chars}</span>
					</>
				),
			sortBy: ({ key }) => key?.description ?? "",
		},
		account: {
			name: "Account",
			cell: ({ account }) =>
				account === undefined ? null : (
					<Link to="/accounts/$accountId" params={{ accountId: account.id }} className="break">
						{account.name === "" ? account.id : account.name}
					</Link>
				),
			sortBy: ({ account }) => account?.name ?? "",
		},
	};
	return [
		...by.map((value) => apart[value]),
		{ name: "Charged", kind: "number", cell: (row) => <Amount value={charged(row)} />, sortBy: (row) => Number(charged(row)) },
		{ name: "USD", kind: "number", cell: ({ usd }) => <Amount value={usd} />, sortBy: ({ usd }) => Number(usd) },
		{
			name: "Bundled",
			kind: "number",
			cell: ({ bundled }) => <Amount value={bundled} />,
			sortBy: ({ bundled }) => Number(bundled),
		},
		{ name: "Diem", kind: "number", cell: ({ diem }) => <Amount value={diem} unit="diem" />, sortBy: ({ diem }) => Number(diem) },
		{
			name: "Units",
			cell: ({ units }) => (
				<span className="break">
					{Object.entries(units)
						.map(([unit, amount]) => `${count(amount)} ${unit}`)
						.join(", ")}
				</span>
			),
		},
	];
}
