/**
 * Counts of requests since the start, as plain numbers for a scrape: answers by endpoint, status class and model, refusals by
 * code, times, tokens and money. Every set of names is bounded. `Traffic` has the window of the last minutes and hours.
 */
import { CALL_SECONDS, Histogram } from "./histogram.ts";

/** The number of models with counts of their own; later ones count as `other`. */
const MAX_MODELS = 1_000;
export const OTHER_MODEL = "other";

/** `2xx` to `5xx`, and `499` if the caller left. */
export type StatusClass = "1xx" | "2xx" | "3xx" | "4xx" | "499" | "5xx";

export interface ModelCounts {
	/** Number of answers by status class. */
	readonly answers: Map<StatusClass, number>;
	promptTokens: number;
	completionTokens: number;
	/** Posted nano-USD, by the balance from which they were taken; `owed` and `overrun` had no balance to take from. */
	usdNano: number;
	diemNano: number;
	owedNano: number;
	overrunNano: number;
}

export interface EndpointCounts {
	/** Counts by model id; the empty text if there is none. */
	readonly models: Map<string, ModelCounts>;
	/** Refusals and failures by the code of the error table. */
	readonly errors: Map<string, number>;
	/** Seconds until the head of the answer was ready; for a stream, until its first event. */
	readonly firstByte: Histogram;
	/** Seconds until the end. */
	readonly whole: Histogram;
	/** Requests in progress. */
	running: number;
}

/** The amounts of a post, in nano-USD. */
export interface CountedPost {
	readonly usd: number;
	readonly diem: number;
	readonly owed: number;
	readonly overrun: number;
}

export class RequestCounts {
	readonly #endpoints = new Map<string, EndpointCounts>();
	readonly #models = new Set<string>();

	/** Counts by the endpoint's name. */
	get endpoints(): ReadonlyMap<string, EndpointCounts> {
		return this.#endpoints;
	}

	/** Counts the start of a request; returns the endpoint's counts for the later calls. */
	begin(endpoint: string): EndpointCounts {
		let counts = this.#endpoints.get(endpoint);
		if (counts === undefined) {
			counts = {
				models: new Map(),
				errors: new Map(),
				firstByte: new Histogram(CALL_SECONDS),
				whole: new Histogram(CALL_SECONDS),
				running: 0,
			};
			this.#endpoints.set(endpoint, counts);
		}
		counts.running++;
		return counts;
	}

	/** Counts an answer when its head is ready. `model`: one of the catalog, or null. */
	answered(counts: EndpointCounts, model: string | null, status: number, seconds: number): void {
		const { answers } = this.#ofModel(counts, model);
		const kind = classOf(status);
		answers.set(kind, (answers.get(kind) ?? 0) + 1);
		counts.firstByte.add(seconds);
	}

	failed(counts: EndpointCounts, code: string): void {
		counts.errors.set(code, (counts.errors.get(code) ?? 0) + 1);
	}

	posted(
		counts: EndpointCounts,
		model: string | null,
		post: CountedPost,
		usage: { readonly promptTokens: number; readonly completionTokens: number } | null,
	): void {
		const of = this.#ofModel(counts, model);
		of.usdNano += post.usd;
		of.diemNano += post.diem;
		of.owedNano += post.owed;
		of.overrunNano += post.overrun;
		if (usage === null) return;
		of.promptTokens += usage.promptTokens;
		of.completionTokens += usage.completionTokens;
	}

	/** Counts the end of an answer, including its stream. */
	ended(counts: EndpointCounts, seconds: number): void {
		counts.running--;
		counts.whole.add(seconds);
	}

	#ofModel({ models }: EndpointCounts, model: string | null): ModelCounts {
		const name = model === null ? "" : this.#nameOf(model);
		let of = models.get(name);
		if (of === undefined) {
			of = { answers: new Map(), promptTokens: 0, completionTokens: 0, usdNano: 0, diemNano: 0, owedNano: 0, overrunNano: 0 };
			models.set(name, of);
		}
		return of;
	}

	#nameOf(model: string): string {
		if (this.#models.has(model)) return model;
		if (this.#models.size >= MAX_MODELS) return OTHER_MODEL;
		this.#models.add(model);
		return model;
	}
}

function classOf(status: number): StatusClass {
	if (status === 499) return "499";
	if (status >= 500) return "5xx";
	if (status >= 400) return "4xx";
	if (status >= 300) return "3xx";
	return status >= 200 ? "2xx" : "1xx";
}
