/** What `GET /metrics` says, as numbers. Source: Prometheus' text exposition format. */

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
			// A counter that nothing was counted for has a type and no sample: it is 0, not unknown.
			const [, declared] = TYPE.exec(line) ?? [];
			if (declared !== undefined && !this.#samples.has(declared)) this.#samples.set(declared, []);
			const [, name = "", labels = "", value = ""] = LINE.exec(line) ?? [];
			const number = Number(value.replace("+Inf", "Infinity").replace("-Inf", "-Infinity"));
			if (name === "" || Number.isNaN(number)) continue;
			const known = this.#samples.get(name) ?? [];
			this.#samples.set(name, known);
			known.push({ labels: labelsOf(labels), value: number });
		}
	}

	/** The sum over all labels that fit; null where the server does not tell it. */
	sum(name: string, fits: (labels: Labels) => boolean = () => true): number | null {
		const samples = this.#samples.get(name);
		if (samples === undefined) return null;
		return samples.reduce((sum, { labels, value }) => (fits(labels) ? sum + value : sum), 0);
	}

	/** How many samples fit. */
	count(name: string, fits: (labels: Labels) => boolean): number {
		return (this.#samples.get(name) ?? []).filter(({ labels }) => fits(labels)).length;
	}

	/** The values of a label, in the order of the scrape. */
	names(name: string, label: string): string[] {
		return [...new Set((this.#samples.get(name) ?? []).map(({ labels }) => labels[label] ?? ""))];
	}

	/** A histogram over all labels: how many lie at or below each bound, rising. */
	buckets(name: string): { readonly bound: number; readonly below: number }[] {
		const sums = new Map<number, number>();
		for (const { labels, value } of this.#samples.get(`${name}_bucket`) ?? []) {
			const bound = labels.le === "+Inf" ? Number.POSITIVE_INFINITY : Number(labels.le);
			sums.set(bound, (sums.get(bound) ?? 0) + value);
		}
		return [...sums].map(([bound, below]) => ({ bound, below })).sort((a, b) => a.bound - b.bound);
	}
}

function labelsOf(text: string): Labels {
	const unescaped = (value: string) => forTerminal(value.replace(/\\(.)/g, (_, mark: string) => (mark === "n" ? "\n" : mark)));
	return Object.fromEntries([...text.matchAll(LABEL)].map(([, name = "", value = ""]) => [name, unescaped(value)]));
}

/** What happened between two scrapes of one server, or since it was started. */
export class Span {
	readonly now: Scrape;
	readonly #before: Scrape | null;
	readonly seconds: number;

	constructor(now: Scrape, before: Scrape | null) {
		const startedAt = (scrape: Scrape) => scrape.sum("process_start_time_seconds");
		this.now = now;
		// Another start counts from nothing again.
		this.#before = before !== null && startedAt(before) === startedAt(now) ? before : null;
		const sinceMs = this.#before?.atMs ?? (startedAt(now) ?? 0) * 1_000;
		this.seconds = Math.max((now.atMs - sinceMs) / 1_000, 0.001);
	}

	get sinceStart(): boolean {
		return this.#before === null;
	}

	/** How much a counter grew; null where the server does not tell it. */
	grown(name: string, fits?: (labels: Labels) => boolean): number | null {
		const now = this.now.sum(name, fits);
		return now === null ? null : now - (this.#before?.sum(name, fits) ?? 0);
	}

	perSecond(name: string, fits?: (labels: Labels) => boolean): number | null {
		const grown = this.grown(name, fits);
		return grown === null ? null : grown / this.seconds;
	}

	/** Seconds that this share of the cases took at most, between two bounds of a histogram; null where there was none. */
	quantile(name: string, share: number): number | null {
		const before = new Map(this.#before?.buckets(name).map(({ bound, below }) => [bound, below]));
		const buckets = this.now.buckets(name).map(({ bound, below }) => ({ bound, below: below - (before.get(bound) ?? 0) }));
		const all = buckets.at(-1)?.below ?? 0;
		if (all <= 0) return null;
		const wanted = share * all;
		const index = buckets.findIndex(({ below }) => below >= wanted);
		const { bound = 0, below = 0 } = buckets[index] ?? {};
		const { bound: from, below: under } = buckets[index - 1] ?? { bound: 0, below: 0 };
		if (bound === Number.POSITIVE_INFINITY) return from;
		return from + ((bound - from) * (wanted - under)) / Math.max(below - under, 1);
	}
}
