/** Parses the numbers of `GET /metrics`. Source: Prometheus' text exposition format. */

import { forTerminal } from "../terminal-text.ts";

export type Labels = Readonly<Record<string, string>>;

interface Sample {
	readonly labels: Labels;
	readonly value: number;
}

const LINE = /^([A-Za-z_:][A-Za-z0-9_:]*)(?:\{(.*)\})? (\S+)/;
const TYPE = /^# TYPE (\S+) /;
const LABEL = /([A-Za-z_][A-Za-z0-9_]*)="((?:[^"\\]|\\.)*)"/g;

/** One scrape. */
export class Scrape {
	/** Unix milliseconds. */
	readonly atMs: number;
	readonly #samples = new Map<string, Sample[]>();

	constructor(text: string, atMs: number) {
		this.atMs = atMs;
		for (const line of text.split("\n")) {
			// A counter with a type but no sample is 0, not unknown.
			const [, declared] = TYPE.exec(line) ?? [];
			if (declared !== undefined && !this.#samples.has(declared)) this.#samples.set(declared, []);
			const [, name = "", labels = "", value = ""] = LINE.exec(line) ?? [];
			const number = Number(value.replace("+Inf", "Infinity").replace("-Inf", "-Infinity"));
			if (name === "" || Number.isNaN(number)) continue;
			const samples = this.#samples.get(name) ?? [];
			this.#samples.set(name, samples);
			samples.push({ labels: labelsOf(labels), value: number });
		}
	}

	/** Returns the sum over all matching samples; null if the server does not report the metric. */
	sum(name: string, matches: (labels: Labels) => boolean = () => true): number | null {
		const samples = this.#samples.get(name);
		if (samples === undefined) return null;
		return samples.reduce((sum, { labels, value }) => (matches(labels) ? sum + value : sum), 0);
	}

	/** Returns the lowest sample, 0 if there is none: of the start times of several workers, the first. */
	lowest(name: string): number {
		const values = (this.#samples.get(name) ?? []).map(({ value }) => value);
		return values.length === 0 ? 0 : Math.min(...values);
	}

	/** Returns the number of matching samples. */
	count(name: string, matches: (labels: Labels) => boolean): number {
		return (this.#samples.get(name) ?? []).filter(({ labels }) => matches(labels)).length;
	}

	/** Returns the values of a label, in the order of the scrape. */
	names(name: string, label: string): string[] {
		return [...new Set((this.#samples.get(name) ?? []).map(({ labels }) => labels[label] ?? ""))];
	}

	/** Returns a histogram over all labels: for each bound, in rising order, the count at or below it. */
	buckets(name: string): { readonly bound: number; readonly cumulative: number }[] {
		const sums = new Map<number, number>();
		for (const { labels, value } of this.#samples.get(`${name}_bucket`) ?? []) {
			const bound = labels.le === "+Inf" ? Number.POSITIVE_INFINITY : Number(labels.le);
			sums.set(bound, (sums.get(bound) ?? 0) + value);
		}
		return [...sums].map(([bound, cumulative]) => ({ bound, cumulative })).sort((a, b) => a.bound - b.bound);
	}
}

function labelsOf(text: string): Labels {
	const unescaped = (value: string) => forTerminal(value.replace(/\\(.)/g, (_, mark: string) => (mark === "n" ? "\n" : mark)));
	return Object.fromEntries([...text.matchAll(LABEL)].map(([, name = "", value = ""]) => [name, unescaped(value)]));
}

/** The changes between two scrapes of one server, or since its start. */
export class Span {
	readonly latest: Scrape;
	readonly #previous: Scrape | null;
	readonly seconds: number;

	constructor(now: Scrape, before: Scrape | null) {
		const startedAt = (scrape: Scrape) => scrape.sum("process_start_time_seconds");
		this.latest = now;
		// After a restart, also of one of several workers, counters begin again at 0.
		this.#previous = before !== null && startedAt(before) === startedAt(now) ? before : null;
		const sinceMs = this.#previous?.atMs ?? now.lowest("process_start_time_seconds") * 1_000;
		this.seconds = Math.max((now.atMs - sinceMs) / 1_000, 0.001);
	}

	get sinceStart(): boolean {
		return this.#previous === null;
	}

	/** Returns the growth of a counter; null if the server does not report it. */
	increase(name: string, matches?: (labels: Labels) => boolean): number | null {
		const now = this.latest.sum(name, matches);
		return now === null ? null : now - (this.#previous?.sum(name, matches) ?? 0);
	}

	perSecond(name: string, matches?: (labels: Labels) => boolean): number | null {
		const grown = this.increase(name, matches);
		return grown === null ? null : grown / this.seconds;
	}

	/** Returns the quantile in seconds, interpolated between two bounds of a histogram; null if there was no case. */
	quantile(name: string, share: number): number | null {
		const before = new Map(this.#previous?.buckets(name).map(({ bound, cumulative }) => [bound, cumulative]));
		const buckets = this.latest
			.buckets(name)
			.map(({ bound, cumulative }) => ({ bound, cumulative: cumulative - (before.get(bound) ?? 0) }));
		const all = buckets.at(-1)?.cumulative ?? 0;
		if (all <= 0) return null;
		const targetCount = share * all;
		const index = buckets.findIndex(({ cumulative }) => cumulative >= targetCount);
		const { bound = 0, cumulative = 0 } = buckets[index] ?? {};
		const { bound: from, cumulative: under } = buckets[index - 1] ?? { bound: 0, cumulative: 0 };
		if (bound === Number.POSITIVE_INFINITY) return from;
		return from + ((bound - from) * (targetCount - under)) / Math.max(cumulative - under, 1);
	}
}
