import type { WorkerAnswer } from "../../telemetry/worker-peers.ts";

const DESCRIPTION = /^# (?:HELP|TYPE|UNIT) (\S+)/;
const SAMPLE = /^([A-Za-z_:][A-Za-z0-9_:]*)(?:\{(.*)\})? (.+)$/;
const END = "# EOF";

interface Family {
	readonly described: Set<string>;
	readonly samples: string[];
}

/** Joins the pages of workers, in Prometheus' text format or OpenMetrics: each sample gets the label `worker`, and each metric stands once with all its samples. */
export function mergePages(pages: readonly WorkerAnswer[]): string {
	const families = new Map<string, Family>();
	let ended = false;
	for (const { worker, answer } of pages) {
		let current: Family | null = null;
		for (const line of String(answer).split("\n")) {
			if (line === END) ended = true;
			const described = DESCRIPTION.exec(line)?.[1];
			if (described !== undefined) {
				current = families.get(described) ?? { described: new Set(), samples: [] };
				families.set(described, current);
				current.described.add(line);
				continue;
			}
			const sample = SAMPLE.exec(line);
			if (sample === null || current === null) continue;
			const [, name, labels, value] = sample;
			current.samples.push(`${name}{worker="${worker}"${labels ? `,${labels}` : ""}} ${value}`);
		}
	}
	const lines = [...families.values()].flatMap(({ described, samples }) => [...described, ...samples, ""]);
	return `${[...lines, ...(ended ? [END] : [])].join("\n")}\n`;
}
