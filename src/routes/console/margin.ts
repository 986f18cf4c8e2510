import { amountText, costOf, skuOf } from "../../budgets/index.ts";
import type { Answer } from "../../server/endpoint.ts";
import type { ConsoleApiDeps } from "./deps.ts";
import { answer } from "./page.ts";
import type { RangeQuery } from "./schema.ts";
import type { MarginReport, MarginRow } from "./types.ts";
import { dayText, rangeOf } from "./when.ts";

/** Maximum number of skus: more than any server has. */
const MAX_SKUS = 20_000;
/** Sales of a model in nano-USD. */
interface ModelSales {
	sales: number;
	overrun: number;
	/** null: none of its skus has a cost. */
	cost: number | null;
	salesWithoutCost: number;
}

/** GET /margin: sales of models, less the cost of their upstreams as configured now. */
export async function margin(query: RangeQuery, { reader, config }: ConsoleApiDeps): Promise<Answer> {
	const range = rangeOf(query, reader.today());
	const settings = config();
	const models = new Map<string, ModelSales>();
	for (const { sku, usd, bundled, diem, overrun, units } of await reader.usage({ ...range, by: ["sku"], limit: MAX_SKUS })) {
		const { subject } = skuOf(sku ?? "");
		const model = models.get(subject) ?? { sales: 0, overrun: 0, cost: null, salesWithoutCost: 0 };
		models.set(subject, model);
		const paid = usd + bundled + diem;
		const cost = costOf(settings, sku ?? "", units);
		model.sales += paid;
		model.overrun += overrun;
		if (cost === null) model.salesWithoutCost += paid;
		else model.cost = (model.cost ?? 0) + cost;
	}
	const rows = [...models].sort(([, a], [, b]) => b.sales - a.sales);
	const sum = (of: (sold: ModelSales) => number) => rows.reduce((total, [, sold]) => total + of(sold), 0);
	return answer<MarginReport>({
		from: dayText(range.firstDay),
		to: dayText(range.lastDay),
		models: rows.map(([model, sold]) => rowOf(model, sold)),
		total: {
			soldUsd: amountText(sum(({ sales: sold }) => sold)),
			overrunUsd: amountText(sum(({ overrun }) => overrun)),
			costUsd: amountText(sum(({ cost }) => cost ?? 0)),
			marginUsd: signedText(sum(marginOf)),
			soldWithoutCostUsd: amountText(sum(({ salesWithoutCost: soldWithoutCost }) => soldWithoutCost)),
		},
	});
}

function marginOf({ sales, cost, salesWithoutCost }: ModelSales): number {
	return sales - salesWithoutCost - (cost ?? 0);
}

function rowOf(model: string, row: ModelSales): MarginRow {
	const { sales, overrun, cost, salesWithoutCost } = row;
	const marginNano = cost === null ? null : marginOf(row);
	const soldWithCost = sales - salesWithoutCost;
	return {
		model,
		soldUsd: amountText(sales),
		overrunUsd: amountText(overrun),
		costUsd: cost === null ? null : amountText(cost),
		soldWithoutCostUsd: amountText(salesWithoutCost),
		marginUsd: marginNano === null ? null : signedText(marginNano),
		marginPercent: marginNano === null || soldWithCost === 0 ? null : Math.round((marginNano / soldWithCost) * 10_000) / 100,
	};
}

function signedText(nano: number): string {
	return nano < 0 ? `-${amountText(-nano)}` : amountText(nano);
}
