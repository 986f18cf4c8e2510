/** Formats the daily sums of an account for the answer. Pure. */
import { type KeySum, NANO_PER_USD, type Sku, skuOf, type UsageSum, type UsageSums } from "../../budgets/index.ts";

const DAY_MS = 86_400_000;
const TOP = 8;
/** Name for usage without a key. */
const NO_KEY = "Web App";

export function analyticsView(sums: UsageSums) {
	const models = modelsOf(sums);
	const topModels = models.slice(0, TOP);
	const modelNames = namesOf(topModels.map((model) => ({ id: model.name, name: model.name, mark: model.sku.unitType })));
	const topKeys = sums.byKey.filter(isUsed).slice(0, TOP);
	const keyNames = namesOf(topKeys.map((key) => ({ id: key.id ?? "", name: keyName(key), mark: key.last6 })));
	return {
		byDate: sums.byDay.map(({ day, usd, diem }) => ({
			date: new Date(day * DAY_MS).toISOString().slice(0, 10),
			USD: usd / NANO_PER_USD,
			DIEM: diem / NANO_PER_USD,
		})),
		byModel: models.map(modelView),
		byModelDaily: dailyView(
			sums.diemBySkuDay.map(({ day, sku, diem }) => ({ day, id: skuOf(sku).subject, diem })),
			modelNames,
		),
		topModels: [...modelNames.values()],
		byKey: sums.byKey.filter(isUsed).map((key) => ({
			apiKeyId: key.id,
			description: key.id === null ? NO_KEY : key.description,
			...totalsOf(key),
		})),
		byKeyDaily: dailyView(
			sums.diemByKeyDay.map(({ day, id, diem }) => ({ day, id: id ?? "", diem })),
			keyNames,
		),
		topKeyNames: [...keyNames.values()],
	};
}

interface ModelSum extends UsageSum {
	readonly name: string;
	readonly sku: Sku;
	readonly parts: readonly (UsageSum & { readonly part: string })[];
}

/** Returns sums by model, highest spending first. */
function modelsOf({ bySku }: UsageSums): ModelSum[] {
	const models = new Map<string, ModelSum>();
	for (const sum of bySku.filter(isUsed)) {
		const sku = skuOf(sum.sku);
		const model = models.get(sku.subject);
		const parts = [...(model?.parts ?? []), ...(sku.part === null ? [] : [{ ...sum, part: sku.part }])];
		models.set(sku.subject, { name: sku.subject, sku: model?.sku ?? sku, parts, ...addUsage(model, sum) });
	}
	return [...models.values()].sort(bySpending);
}

function modelView({ name, sku, parts, ...sum }: ModelSum) {
	const breakdown = [...parts].sort(bySpending).map(({ part, usd, diem, units }) => ({
		type: part,
		usd: usd / NANO_PER_USD,
		diem: diem / NANO_PER_USD,
		units,
	}));
	return {
		modelName: name,
		unitType: sku.unitType,
		modelType: sku.modelType,
		...totalsOf(sum),
		...(breakdown.length === 0 ? {} : { breakdown }),
	};
}

/** Returns one row for each day with usage, with the diem of each name. */
function dailyView(rows: readonly { day: number; id: string; diem: number }[], names: ReadonlyMap<string, string>) {
	const days = new Map<number, Map<string, number>>();
	for (const { day, id, diem } of rows) {
		const name = names.get(id);
		if (name === undefined) continue;
		const ofDay = days.get(day) ?? new Map<string, number>();
		days.set(day, ofDay.set(name, (ofDay.get(name) ?? 0) + diem));
	}
	return [...days.entries()]
		.sort(([a], [b]) => a - b)
		.map(([day, diem]) => {
			// Callers choose these names; `fromEntries` makes plain members even of names like `__proto__`.
			const members = [...diem].map(([name, nano]) => [name, nano / NANO_PER_USD] as const);
			return Object.fromEntries<number>([["date", day * DAY_MS], ...members]);
		});
}

/** Returns unique names for the members beside `date`. Equal or empty names get a distinguishing mark. */
function namesOf(items: readonly { id: string; name: string; mark: string }[]): Map<string, string> {
	const counts = new Map<string, number>([["date", 1]]);
	for (const { name } of items) counts.set(name, (counts.get(name) ?? 0) + 1);
	const used = new Set<string>(["date"]);
	return new Map(
		items.map(({ id, name, mark }) => {
			let unique = name !== "" && counts.get(name) === 1 ? name : `${name} (${mark})`.trim();
			for (let number = 2; used.has(unique); number++) unique = `${name} (${mark}, ${number})`.trim();
			used.add(unique);
			return [id, unique];
		}),
	);
}

function keyName(key: KeySum): string {
	return key.id === null ? NO_KEY : key.description;
}

function totalsOf(sum: UsageSum) {
	return { totalUsd: sum.usd / NANO_PER_USD, totalDiem: sum.diem / NANO_PER_USD, totalUnits: sum.units };
}

function addUsage(a: UsageSum | undefined, b: UsageSum): UsageSum {
	return { usd: (a?.usd ?? 0) + b.usd, diem: (a?.diem ?? 0) + b.diem, units: (a?.units ?? 0) + b.units };
}

function bySpending(a: UsageSum, b: UsageSum): number {
	return b.usd + b.diem - (a.usd + a.diem) || b.units - a.units;
}

function isUsed(sum: UsageSum): boolean {
	return sum.usd > 0 || sum.diem > 0 || sum.units > 0;
}
