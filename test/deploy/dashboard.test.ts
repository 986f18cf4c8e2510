import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { withMetrics } from "../../scripts/metrics-table.ts";
import { METRICS } from "../../src/observability/metrics/index.ts";

const ROOT = join(import.meta.dir, "../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** Every name under which a metric has lines. */
const LINES = new Map(
	METRICS.flatMap((metric) =>
		(metric.kind === "histogram" ? ["_bucket", "_sum", "_count"] : [""]).map((end) => [`${metric.name}${end}`, metric] as const),
	),
);

test("every metric that the dashboard asks for exists, with the labels that it groups by", () => {
	const { panels } = JSON.parse(read("deploy/grafana/turnpike.json"));
	const queries: string[] = panels.flatMap(({ targets = [] }) => targets.map(({ expr }: { expr: string }) => expr));
	expect(queries.length).toBeGreaterThan(30);
	for (const query of queries) {
		const names = query.match(/\b(?:turnpike|process)_[a-z_]+/g) ?? [];
		expect(names).not.toHaveLength(0);
		for (const name of names) {
			const metric = LINES.get(name);
			expect(metric, name).toBeDefined();
			const grouped = /sum by \(([^)]+)\)/.exec(query)?.[1]?.split(", ") ?? [];
			for (const label of grouped.filter((each) => each !== "le" && each !== "instance"))
				expect(metric?.labels, `${name} by ${label}`).toContain(label);
		}
	}
});

test("names follow the conventions: counters end with _total, and only they do", () => {
	for (const { name, kind, help } of METRICS) {
		expect(name.endsWith("_total"), name).toBe(kind === "counter");
		expect(help).not.toBe("");
	}
	expect(new Set(METRICS.map(({ name }) => name)).size).toBe(METRICS.length);
});

test("docs/observing.md has the table of all metrics as they are", () => {
	const page = read("docs/observing.md");
	expect(withMetrics(page)).toBe(page);
});
