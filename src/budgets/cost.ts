import type { Config } from "../config/index.ts";
import { skuOf } from "./sku.ts";

/** The settings that contain the operator's costs. */
export type CostSettings = Pick<Config, "costs"> & { readonly models: Pick<Config["models"], "entries"> };

const NANO_PER_USD = 1e9;

/**
 * Returns what the operator pays for units of a sku, as configured now.
 *
 * @returns nano-USD; null if no cost is set for it
 */
export function costOf({ costs, models }: CostSettings, sku: string, units: number): number | null {
	const usd = Object.hasOwn(costs, sku) ? costs[sku] : costOfModel(models.entries, sku);
	return usd === undefined ? null : Math.round((units / skuOf(sku).unitsPerPrice) * usd * NANO_PER_USD);
}

/**
 * Returns the cost in USD of the unit that prices use: a million tokens or characters, a second, a picture. Cached
 * tokens cost as much as input.
 */
function costOfModel(entries: CostSettings["models"]["entries"], sku: string): number | undefined {
	const { subject, modelType, part } = skuOf(sku);
	const cost = Object.hasOwn(entries, subject) ? entries[subject]?.cost : undefined;
	if (modelType === "LLM") return part === "output" ? cost?.output : cost?.input;
	return part === null ? cost?.each : undefined;
}
