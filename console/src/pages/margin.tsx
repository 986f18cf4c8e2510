import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { MarginRow } from "../../../src/routes/console/types.ts";
import { queries } from "../api/queries.ts";
import { utcDay } from "../format/instant.ts";
import { Amount } from "../parts/amount.tsx";
import { DayRange } from "../parts/day-range.tsx";
import { Empty, Loaded } from "../parts/loaded.tsx";
import { Figure, Figures, Page } from "../parts/page.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { useSearchTexts } from "../parts/use-search-texts.ts";

const columns: readonly Column<MarginRow>[] = [
	{ name: "Model", cell: ({ model }) => <span className="break">{model}</span>, sortBy: ({ model }) => model },
	{ name: "Sold", kind: "number", cell: ({ soldUsd }) => <Amount value={soldUsd} />, sortBy: ({ soldUsd }) => Number(soldUsd) },
	{
		name: "Cost",
		kind: "number",
		cell: ({ costUsd }) => (costUsd === null ? <span className="quiet">not set</span> : <Amount value={costUsd} />),
		sortBy: ({ costUsd }) => Number(costUsd ?? -1),
	},
	{
		name: "Margin",
		kind: "number",
		cell: ({ marginUsd }) => (marginUsd === null ? <span className="quiet">unknown</span> : <Amount value={marginUsd} />),
		sortBy: ({ marginUsd }) => Number(marginUsd ?? Number.NEGATIVE_INFINITY),
	},
	{
		name: "Sold without a cost",
		kind: "number",
		cell: ({ soldWithoutCostUsd }) => <Amount value={soldWithoutCostUsd} />,
		sortBy: ({ soldWithoutCostUsd }) => Number(soldWithoutCostUsd),
	},
	{
		name: "Share of sales",
		kind: "number",
		cell: ({ marginPercent }) =>
			marginPercent === null ? <span className="quiet">unknown</span> : `${marginPercent.toFixed(1)} %`,
		sortBy: ({ marginPercent }) => marginPercent ?? Number.NEGATIVE_INFINITY,
	},
	{
		name: "Overrun",
		kind: "number",
		cell: ({ overrunUsd }) => <Amount value={overrunUsd} />,
		sortBy: ({ overrunUsd }) => Number(overrunUsd),
	},
];

/** The revenue of each model after its cost. */
export function MarginPage(): ReactNode {
	const [search, change] = useSearchTexts("from", "to");
	const from = search.from ?? utcDay(-29);
	const to = search.to ?? utcDay();
	const query = useQuery({ ...queries.margin({ from, to }), placeholderData: (before) => before });
	return (
		<Page
			title="Margin by model"
			says="Sold is the sum of cost, margin, and sales without a cost, in USD, bundled credit and diem together. Costs are those of the current configuration: the cost of a model's entry, or costs by sku."
			actions={<DayRange from={from} to={to} onChange={change} />}
		>
			<Loaded query={query}>
				{({ models, total }) => (
					<>
						<Figures>
							<Figure name="Sold">
								<Amount value={total.soldUsd} />
							</Figure>
							<Figure name="Cost">
								<Amount value={total.costUsd} />
							</Figure>
							<Figure name="Margin">
								<Amount value={total.marginUsd} />
							</Figure>
							<Figure name="Sold without a cost" note="not part of the margin">
								<Amount value={total.soldWithoutCostUsd} />
							</Figure>
							<Figure name="Overrun" note="charges that customers could not pay">
								<Amount value={total.overrunUsd} />
							</Figure>
						</Figures>
						{models.length === 0 ? (
							<Empty title="Nothing was sold on these days" />
						) : (
							<Table label="Margin by model" columns={columns} rows={models} rowKey={({ model }) => model} />
						)}
					</>
				)}
			</Loaded>
		</Page>
	);
}
