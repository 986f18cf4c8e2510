import { amountText, skuOf } from "../../budgets/index.ts";
import type { Config } from "../../config/index.ts";
import type { Answer } from "../../server/endpoint.ts";
import { answer } from "./page.ts";
import type { ConsoleParts } from "./parts.ts";
import type { RangeQuery } from "./schema.ts";
import type { MarginReport, MarginRow } from "./types.ts";
import { dayText, rangeOf } from "./when.ts";

/** More than the skus of any server. */
const MAX_SKUS = 20_000;
/** Nano-USD of one token at 1 USD for a million. */
const NANO_PER_TOKEN_AT_ONE_USD = 1_000;

interface Sold {
	sold: number;
	overrun: number;
	/** null: not known. */
	cost: number | null;
}

/** GET /margin: what models were sold for, less what their upstreams take as configured now. */
export async function margin(query: RangeQuery, { books, config }: ConsoleParts): Promise<Answer> {
	const range = rangeOf(query, books.today());
	const { entries } = config().models;
	const models = new Map<string, Sold>();
	for (const { sku, usd, bundled, diem, overrun, units } of await books.usage({ ...range, by: ["sku"], limit: MAX_SKUS })) {
		const { subject } = skuOf(sku ?? "");
		const model = models.get(subject) ?? { sold: 0, overrun: 0, cost: costsOf(entries, subject) === undefined ? null : 0 };
		models.set(subject, model);
		model.sold += usd + bundled + diem;
		model.overrun += overrun;
		if (model.cost !== null) model.cost += costOf(entries, sku ?? "", units);
	}
	const rows = [...models].sort(([, a], [, b]) => b.sold - a.sold);
	const sum = (of: (sold: Sold) => number) => rows.reduce((total, [, sold]) => total + of(sold), 0);
	return answer<MarginReport>({
		from: dayText(range.firstDay),
		to: dayText(range.lastDay),
		models: rows.map(([model, sold]) => rowOf(model, sold)),
		total: {
			soldUsd: amountText(sum(({ sold }) => sold)),
			overrunUsd: amountText(sum(({ overrun }) => overrun)),
			costUsd: amountText(sum(({ cost }) => cost ?? 0)),
			marginUsd: signedText(sum(({ sold, cost }) => (cost === null ? 0 : sold - cost))),
		},
	});
}

function rowOf(model: string, { sold, overrun, cost }: Sold): MarginRow {
	const left = cost === null ? null : sold - cost;
	return {
		model,
		soldUsd: amountText(sold),
		overrunUsd: amountText(overrun),
		costUsd: cost === null ? null : amountText(cost),
		marginUsd: left === null ? null : signedText(left),
		marginPercent: left === null || sold === 0 ? null : Math.round((left / sold) * 10_000) / 100,
	};
}

function signedText(nano: number): string {
	return nano < 0 ? `-${amountText(-nano)}` : amountText(nano);
}

function costsOf(entries: Config["models"]["entries"], model: string) {
	return Object.hasOwn(entries, model) ? entries[model]?.cost : undefined;
}

/** Nano-USD of a sku's tokens; cached ones at the cost of input. */
function costOf(entries: Config["models"]["entries"], sku: string, units: number): number {
	const { subject, modelType, part } = skuOf(sku);
	const cost = costsOf(entries, subject);
	if (cost === undefined || modelType !== "LLM") return 0;
	return Math.round(units * (part === "output" ? cost.output : cost.input) * NANO_PER_TOKEN_AT_ONE_USD);
}
