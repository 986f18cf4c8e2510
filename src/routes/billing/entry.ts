import Type, { type Static } from "typebox";
import { NANO_PER_USD, type StatementEntry, skuOf } from "../../budgets/index.ts";
import { named } from "../../schema/named-schema.ts";
import { type CsvCell, csvLine, decimalText } from "../../wire/index.ts";

export const UsageEntrySchema = named(
	"UsageEntry",
	Type.Object({
		timestamp: Type.String({ format: "date-time", description: "When it was posted: normally within a second of the answer" }),
		sku: Type.String(),
		pricePerUnitUsd: Type.Number({ description: "USD for one unit, as counted here" }),
		units: Type.Number({ description: "Millions of tokens, if the sku ends in -mtoken" }),
		amount: Type.Number({ description: "Negative: a charge" }),
		currency: Type.Enum(["USD", "DIEM", "BUNDLED_CREDITS"]),
		notes: Type.String(),
		inferenceDetails: Type.Union([
			Type.Null(),
			Type.Object({
				requestId: Type.String({ description: "X-Request-ID of the answer" }),
				inferenceExecutionTime: Type.Union([Type.Number({ description: "Milliseconds" }), Type.Null()]),
				promptTokens: Type.Union([Type.Integer(), Type.Null()]),
				completionTokens: Type.Union([Type.Integer(), Type.Null()]),
			}),
		]),
	}),
);
export type UsageEntry = Static<typeof UsageEntrySchema>;

export const CURRENCIES = { usd: "USD", diem: "DIEM", bundled: "BUNDLED_CREDITS" } as const;
const CSV_COLUMNS = [
	"timestamp",
	"sku",
	"pricePerUnitUsd",
	"units",
	"amount",
	"currency",
	"notes",
	"requestId",
	"inferenceExecutionTime",
	"promptTokens",
	"completionTokens",
];
const PICO_PER_USD = 1e12;

/** Returns an entry as JSON answers have it. */
export function usageEntry(entry: StatementEntry): UsageEntry {
	const { unitsPerPrice } = skuOf(entry.sku);
	return {
		timestamp: new Date(entry.bookedAtMs).toISOString(),
		sku: entry.sku,
		pricePerUnitUsd: entry.picoPrice / (PICO_PER_USD / unitsPerPrice),
		units: entry.units / unitsPerPrice,
		amount: -entry.amount / NANO_PER_USD,
		currency: CURRENCIES[entry.source],
		notes: notesOf(entry),
		inferenceDetails: {
			requestId: entry.requestId,
			inferenceExecutionTime: entry.tookMs,
			promptTokens: entry.promptTokens,
			completionTokens: entry.completionTokens,
		},
	};
}

/** Returns entries as CSV with a header row; numbers are exact decimals. */
export function usageCsv(entries: readonly StatementEntry[]): string {
	return [csvLine(CSV_COLUMNS), ...entries.map((entry) => csvLine(csvCells(entry)))].join("");
}

function csvCells(entry: StatementEntry): CsvCell[] {
	const places = Math.round(Math.log10(skuOf(entry.sku).unitsPerPrice));
	return [
		new Date(entry.bookedAtMs).toISOString(),
		entry.sku,
		{ plain: decimalText(entry.picoPrice, 12 - places) },
		{ plain: decimalText(entry.units, places) },
		{ plain: `-${decimalText(entry.amount, 9)}` },
		CURRENCIES[entry.source],
		notesOf(entry),
		entry.requestId,
		entry.tookMs,
		entry.promptTokens,
		entry.completionTokens,
	];
}

function notesOf(entry: StatementEntry): string {
	return entry.route === "crypto-rpc" ? "Crypto RPC" : "API Inference";
}
