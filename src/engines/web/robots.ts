import type { Requester } from "../../fairness/index.ts";
import type { Clock } from "../../telemetry/clock.ts";
import { type PublicFetch, PublicFetchFault } from "../../upstreams/public-fetch/port.ts";
import type { PagePool } from "./page-pool.ts";
import { PageFault } from "./port.ts";

/** The result of reading a site's robots.txt (RFC 9309, 2.3.1). */
type Rules = { readonly kind: "text"; readonly text: string } | { readonly kind: "none" } | { readonly kind: "unreachable" };

interface CachedRules {
	readonly rules: Rules;
	/** A time of the monotonic clock. */
	readonly until: number;
}

export interface RobotsOptions {
	readonly fetch: PublicFetch;
	readonly pages: PagePool;
	readonly clock: Clock;
	/** Returns the product name for which rules are looked up. */
	readonly agent: () => string;
}

/** RFC 9309 requires at least 500 KiB (2.5). */
const MAX_BYTES = 512 * 1_024;
const KEPT_MS = 3_600_000;
const UNREACHABLE_KEPT_MS = 60_000;
const MAX_SITES = 1_000;
const MAX_CHARS = 8 * 1_024 * 1_024;
const FETCH_MS = 8_000;

/** Caches sites' rules for programs for an hour; at most 1,000 sites and 8 MiB. */
export class Robots {
	readonly #options: RobotsOptions;
	/** Origin -> rules; the least recently used first. */
	readonly #cache = new Map<string, CachedRules>();
	#chars = 0;

	constructor(options: RobotsOptions) {
		this.#options = options;
	}

	/**
	 * Checks that the site's rules allow an address.
	 * @throws {PageFault} `page_robots`; PublicFetchFault if the host itself cannot be read
	 */
	async check(url: URL, requester: Requester): Promise<void> {
		const rules = await this.#rulesOf(url.origin, requester);
		if (rules.kind === "none") return;
		if (rules.kind === "unreachable")
			throw new PageFault(
				"page_robots",
				`The robots.txt of ${url.host} cannot be reached, so nothing is read there until it can`,
			);
		const { pages, agent } = this.#options;
		const query = { rules: rules.text, rulesUrl: `${url.origin}/robots.txt`, url: url.href, agent: agent() };
		if (!(await pages.isAllowed(query, requester)))
			throw new PageFault("page_robots", `The robots.txt of ${url.host} forbids that this page is read by programs`);
	}

	async #rulesOf(origin: string, requester: Requester): Promise<Rules> {
		const { clock } = this.#options;
		const cached = this.#cache.get(origin);
		if (cached !== undefined && cached.until > clock.monotonicMs()) {
			this.#cache.delete(origin);
			this.#cache.set(origin, cached);
			return cached.rules;
		}
		const rules = await this.#fetch(origin, requester);
		const keptMs = rules.kind === "unreachable" ? UNREACHABLE_KEPT_MS : KEPT_MS;
		this.#keep(origin, { rules, until: clock.monotonicMs() + keptMs });
		return rules;
	}

	async #fetch(origin: string, { tenant, signal }: Requester): Promise<Rules> {
		try {
			const { status, bytes } = await this.#options.fetch.get(`${origin}/robots.txt`, {
				tenant,
				signal,
				maxBytes: MAX_BYTES,
				cutOff: true,
				totalMs: FETCH_MS,
				accept: "text/plain, */*;q=0.5",
			});
			// 429 means no access for now, like a 5xx.
			if (status >= 500 || status === 429) return { kind: "unreachable" };
			const text = new TextDecoder().decode(bytes);
			return status >= 200 && status < 300 && /disallow/i.test(text) ? { kind: "text", text } : { kind: "none" };
		} catch (fault) {
			if (!(fault instanceof PublicFetchFault)) throw fault;
			if (fault.kind === "redirects") return { kind: "none" };
			if (fault.kind === "timeout" || fault.kind === "unreachable" || fault.kind === "encoding") return { kind: "unreachable" };
			throw fault;
		}
	}

	#keep(origin: string, cached: CachedRules): void {
		this.#forget(origin);
		this.#cache.set(origin, cached);
		this.#chars += charsOf(cached.rules);
		for (const oldest of this.#cache.keys()) {
			if (this.#cache.size <= MAX_SITES && this.#chars <= MAX_CHARS) break;
			this.#forget(oldest);
		}
	}

	#forget(origin: string): void {
		const cached = this.#cache.get(origin);
		if (cached === undefined) return;
		this.#cache.delete(origin);
		this.#chars -= charsOf(cached.rules);
	}
}

const charsOf = (rules: Rules): number => (rules.kind === "text" ? rules.text.length : 0);
