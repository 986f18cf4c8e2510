/** The table of every metric, from the code: `bun scripts/metrics-table.ts` writes it into docs/observing.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { METRICS } from "../src/observability/metrics/index.ts";

const BEGIN = "<!-- metrics: made by scripts/metrics-table.ts -->";
const END = "<!-- end of metrics -->";

/** Markdown rows of every metric. */
export function metricsTable(): string {
	const rows = METRICS.map(({ name, kind, labels, help }) => `| \`${name}\` | ${kind} | ${labels.join(", ")} | ${help} |`);
	return ["| Metric | Kind | Labels | What it is |", "|---|---|---|---|", ...rows].join("\n");
}

/** The page with its table replaced. */
export function withMetrics(page: string): string {
	const start = page.indexOf(BEGIN);
	const end = page.indexOf(END);
	if (start < 0 || end < 0) throw new Error("docs/observing.md lacks the marks of its table");
	return `${page.slice(0, start + BEGIN.length)}\n\n${metricsTable()}\n\n${page.slice(end)}`;
}

if (import.meta.main) {
	const path = new URL("../docs/observing.md", import.meta.url);
	writeFileSync(path, withMetrics(readFileSync(path, "utf8")));
}
