import { defineCommand } from "citty";
import { costOf, skuPlaces, skuPriceText } from "../budgets/index.ts";
import type { Config } from "../config/index.ts";
import { readBacklog } from "../store/admin.ts";
import { type ExportedLine, exportUsage } from "../store/queries/usage-export.ts";
import { lastArchivedMonth } from "../store/retention/archive-plan.ts";
import { addMonths, monthStartMs } from "../store/retention/month.ts";
import { type CsvCell, csvLine, decimalText } from "../wire/index.ts";
import { instantOf } from "./instant.ts";
import { printError, writeOut } from "./print.ts";
import { configOrExit, storeArgs } from "./store-args.ts";
import { withStore } from "./with-store.ts";

const CURRENCIES = { usd: "USD", diem: "DIEM", bundled: "BUNDLED_CREDITS", overrun: "OVERRUN" } as const;
const NANO_PLACES = 9;
/** Several nodes write at once: entries younger than this may still be followed by older ones. */
const UNDER_WAY_MS = 5_000;

/** An entry of the export: a line of a charge, and its upstream's cost at the current settings. */
interface Row extends ExportedLine {
	/** Nano-USD; null if it is not known. */
	readonly cost: number | null;
}

/** The columns of the CSV and members of an NDJSON line, in this order. Amounts are exact decimals. */
const COLUMNS: readonly (readonly [name: string, cell: (line: Row) => CsvCell])[] = [
	["timestamp", (line) => new Date(line.bookedAtMs).toISOString()],
	["requestId", (line) => line.requestId],
	["accountId", (line) => line.accountId],
	["account", (line) => line.accountName],
	["keyId", (line) => line.keyId],
	["key", (line) => line.keyDescription],
	["route", (line) => line.route],
	["model", (line) => line.model],
	["upstream", (line) => line.upstream],
	["status", (line) => line.status],
	["milliseconds", (line) => line.tookMs],
	["promptTokens", (line) => line.promptTokens],
	["completionTokens", (line) => line.completionTokens],
	["sku", (line) => line.sku],
	["pricePerUnitUsd", (line) => ofSku(line, (sku) => skuPriceText(sku, line.picoPrice))],
	["units", (line) => ofSku(line, (sku) => decimalText(line.units, skuPlaces(sku)))],
	["charged", (line) => ({ plain: decimalText(line.amount, NANO_PLACES) })],
	["currency", (line) => (line.source === null ? null : CURRENCIES[line.source])],
	["costUsd", (line) => nanoText(line.cost)],
	["marginUsd", (line) => nanoText(line.cost === null ? null : chargedNano(line) - line.cost)],
];

/** Returns what the operator received: nothing for an overrun. */
function chargedNano(line: ExportedLine): number {
	return line.source === null || line.source === "overrun" ? 0 : line.amount;
}

function nanoText(nano: number | null): CsvCell {
	if (nano === null) return null;
	const text = decimalText(Math.abs(nano), NANO_PLACES);
	return { plain: nano < 0 ? `-${text}` : text };
}

/** Returns the cost of a line; for a request at price 0, that of all its tokens. */
function costOfLine({ sku, units, model, promptTokens, completionTokens }: ExportedLine, config: Config): number | null {
	if (sku !== null) return costOf(config, sku, units);
	if (model === null) return null;
	const input = costOf(config, `${model}-llm-input-mtoken`, promptTokens ?? 0);
	const output = costOf(config, `${model}-llm-output-mtoken`, completionTokens ?? 0);
	return input === null ? null : input + (output ?? 0);
}

function ofSku(line: ExportedLine, text: (sku: string) => string): CsvCell {
	return line.sku === null ? null : { plain: text(line.sku) };
}

const FORMATS = {
	csv: {
		head: csvLine(COLUMNS.map(([name]) => name)),
		line: (line: Row) => csvLine(COLUMNS.map(([, cell]) => cell(line))),
	},
	ndjson: {
		head: "",
		line: (line: Row) => `{${COLUMNS.map(([name, cell]) => `"${name}":${jsonOf(cell(line))}`).join(",")}}\n`,
	},
} as const;

/** Writes exact decimals as JSON numbers. */
function jsonOf(cell: CsvCell): string {
	return cell !== null && typeof cell === "object" ? cell.plain : JSON.stringify(cell);
}

const exportCommand = defineCommand({
	meta: { name: "export", description: "Write the usage of all accounts to standard output, line by line" },
	args: {
		from: { type: "string", description: "First day or instant (UTC), included; default: all", valueHint: "2026-10-01" },
		to: { type: "string", description: "Last day or instant (UTC), excluded; default: now", valueHint: "2026-11-01" },
		format: { type: "string", description: "csv or ndjson", default: "csv", valueHint: "FORMAT" },
		...storeArgs,
	},
	run: ({ args }) => {
		const { from, to } = args;
		const format = Object.hasOwn(FORMATS, args.format) ? FORMATS[args.format as keyof typeof FORMATS] : null;
		if (format === null) return refuse("--format: expected csv or ndjson");
		const fromMs = from === undefined ? null : instantOf(from);
		const toMs = to === undefined ? null : instantOf(to);
		if (fromMs === undefined || toMs === undefined)
			return refuse("--from and --to: expected a day or an instant, like 2026-10-01 or 2026-10-01T12:00:00Z");
		if (fromMs !== null && toMs !== null && toMs <= fromMs)
			return refuse("--to must be later than --from; its day is not included");
		return withStore(args, async (admin) => {
			const { config } = configOrExit(args);
			const backlog = await readBacklog(admin, config.data);
			if (to === undefined && backlog.records > 0)
				printError(
					`${backlog.records} records of the journal are not in the store yet: run the command again in a moment to include them`,
				);
			const archived = await lastArchivedMonth(admin.db);
			if (archived !== null && (fromMs ?? 0) < monthStartMs(addMonths(archived, 1)))
				printError(`Charges up to the end of ${archived} are in the archives, and are left out`);
			const endMs = toMs ?? Date.now() - (config.store === undefined ? 0 : UNDER_WAY_MS);
			await writeOut(format.head);
			for await (const lines of exportUsage(admin.db, { fromMs, toMs: endMs })) {
				const rows = lines.map((line): Row => ({ ...line, cost: costOfLine(line, config) }));
				await writeOut(rows.map(format.line).join(""));
			}
		});
	},
});

function refuse(message: string): void {
	printError(message);
	process.exitCode = 1;
}

export const usage = defineCommand({
	meta: { name: "usage", description: "Usage and its price: export" },
	subCommands: { export: exportCommand },
});
