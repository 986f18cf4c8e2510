/**
 * What requests came to since the start, as plain numbers that a scrape reads: answers by endpoint, class of status and
 * model, refusals by code, times, tokens and money. A bound on every set of names; the window of the last minutes and
 * hours is `Traffic`.
 */
import { CALL_SECONDS, Histogram } from "./histogram.ts";

/** Models that are told apart; what comes later is `other`. */
const MAX_MODELS = 1_000;
export const OTHER_MODEL = "other";

/** `2xx` to `5xx`, and `499` where the caller left. */
export type StatusClass = "1xx" | "2xx" | "3xx" | "4xx" | "499" | "5xx";

export interface ModelCounts {
	/** By class of status. */
	readonly answers: Map<StatusClass, number>;
	promptTokens: number;
	completionTokens: number;
	/** Nano-USD that were posted, by what they were taken from; `owed` and `overrun` are what nothing was there for yet. */
	usdNano: number;
	diemNano: number;
	owedNano: number;
	overrunNano: number;
}

export interface EndpointCounts {
	/** Model id, or the empty text where there is none. */
	readonly models: Map<string, ModelCounts>;
	/** Refusals and failures by the code of the error table. */
	readonly errors: Map<string, number>;
	/** Seconds until the head of the answer was ready: of a stream, its first event. */
	readonly firstByte: Histogram;
	/** Seconds until the end. */
	readonly whole: Histogram;
	/** Requests under way. */
	running: number;
}

/** What a post took, in nano-USD. */
export interface CountedPost {
	readonly usd: number;
	readonly diem: number;
	readonly owed: number;
	readonly overrun: number;
}

export class RequestCounts {
	readonly #endpoints = new Map<string, EndpointCounts>();
	readonly #models = new Set<string>();

	/** By the endpoint's name. */
	get endpoints(): ReadonlyMap<string, EndpointCounts> {
		return this.#endpoints;
	}

	/** A request of the endpoint begins. Its counts: what the rest is noted on. */
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

	/** The answer's head is there. `model`: one of the catalog, or null. */
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

	/** The answer, with its stream where it has one, has ended. */
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
