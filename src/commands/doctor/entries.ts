/** Checks single entries of `models.entries`, apart from their upstreams. */
import type { ModelType } from "../../catalog/index.ts";
import type { Config } from "../../config/index.ts";
import { type Finding, fault, notice } from "../../telemetry/finding.ts";
import { readWorkflow } from "../../upstreams/images/comfyui/workflow.ts";

type Entries = Config["models"]["entries"];

/** Finds unreadable workflows: requests for their models would get 503. */
export async function unreadWorkflows(entries: Entries): Promise<Finding[]> {
	const workflows = Object.entries(entries).flatMap(([id, { upstreams = [] }]) =>
		upstreams.flatMap(({ workflow, protocol }) => (workflow === undefined || protocol !== "comfyui" ? [] : [{ id, workflow }])),
	);
	const findings = await Promise.all(
		workflows.map(async ({ id, workflow }) => {
			try {
				await readWorkflow(workflow);
				return [];
			} catch (error) {
				const mend = `export the workflow for the API in ComfyUI, and save it as ${workflow}`;
				return [fault(`model ${id}`, (error as Error).message, mend)];
			}
		}),
	);
	return findings.flat();
}

/** Finds models that are sold below their cost. */
export function soldBelowCost(entries: Entries): Finding[] {
	return Object.entries(entries).flatMap(([id, { price, cost }]) =>
		(["input", "output"] as const).flatMap((part) => {
			const [sold = 0, paid = 0] = [price?.[part], cost?.[part]];
			if (price === undefined || sold >= paid) return [];
			const text = `${part} is sold at ${sold} USD per million tokens, and costs ${paid}`;
			return [notice(`model ${id}`, text, `models.entries["${id}"].price.${part}: ${paid} or more`)];
		}),
	);
}

const PRICES: Readonly<Partial<Record<ModelType, string>>> = {
	text: "price: {input: 1, output: 2}",
	tts: "speech: {perMillionCharacters: 15}",
	asr: "transcription: {perAudioSecond: 0.0001}",
	embedding: "embedding: {perMillionTokens: 0.02}",
	image: "image: {usd: 0.04}",
	inpaint: "image: {usd: 0.04}",
	upscale: "image: {upscale: {2x: 0.02, 4x: 0.08}}",
};

/** Returns the setting line that gives a model of a type a price. */
export function priceLine(id: string, type: ModelType): string {
	return `models: {entries: {${JSON.stringify(id)}: {${PRICES[type] ?? PRICES.text}}}}`;
}
