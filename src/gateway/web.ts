import { type Config, VERSION } from "../config/index.ts";
import type { DocumentReader } from "../engines/documents/port.ts";
import { Chromium, PagePool, type PageReader, WebPageReader } from "../engines/web/index.ts";
import type { Clock } from "../telemetry/clock.ts";
import type { Log } from "../telemetry/log.ts";
import { createPublicFetch, type GuardProxy, type PublicFetch, startGuardProxy } from "../upstreams/public-fetch/index.ts";
import { createWebSearch, type WebSearch } from "../upstreams/search/index.ts";

export interface WebDeps {
	readonly documents: DocumentReader;
	/** Default: fetches the public internet and the hosts of `web.allowPrivateHosts`. */
	readonly fetchPublic?: PublicFetch | undefined;
	readonly clock: Clock;
	readonly log: Log;
	readonly config: () => Config;
}

/** Assembles the modules that read and search the web. */
export class Web {
	/** Fetches addresses that callers name. */
	readonly fetchPublic: PublicFetch;
	readonly pages: PageReader;
	readonly search: WebSearch;
	readonly #pool: PagePool;
	readonly #config: () => Config;
	/** Starts with the first page whose scripts are executed. */
	#proxy: Promise<GuardProxy> | null = null;

	constructor({ documents, fetchPublic, clock, log, config }: WebDeps) {
		this.#config = config;
		const web = () => config().web;
		this.fetchPublic =
			fetchPublic ?? createPublicFetch({ userAgent: () => userAgent(web()), trustedHosts: () => web().allowPrivateHosts });
		const { processes, maxMemoryMb, chromium } = web();
		const scripted = chromium === undefined ? null : this.#browser(chromium);
		this.#pool = new PagePool({ log, processes, maxMemoryMb });
		this.pages = new WebPageReader({
			fetch: this.fetchPublic,
			pages: this.#pool,
			documents,
			scripted,
			clock,
			settings: web,
		});
		this.search = createWebSearch({ config: web, log });
	}

	async stop(): Promise<void> {
		const proxy = await this.#proxy?.catch(() => null);
		proxy?.stop();
		await this.#pool.stop();
	}

	/** Every request of a page that this browser loads goes through the guard proxy. */
	#browser(program: string): Chromium {
		const web = () => this.#config().web;
		return new Chromium({
			program,
			userAgent: () => userAgent(web()),
			maxBytes: web().maxPageMb * 2 ** 20,
			maxMemoryMb: () => web().maxMemoryMb,
			proxyPort: async () => {
				this.#proxy ??= startGuardProxy({ trustedHosts: () => web().allowPrivateHosts, refusedHosts: BROWSERS_OWN });
				return (await this.#proxy).port;
			},
		});
	}
}

/** Chromium looks for its own updates at these hosts. */
const BROWSERS_OWN = ["update.googleapis.com", "clients2.google.com", "optimizationguide-pa.googleapis.com"];

/** Returns the User-Agent: a name that robots.txt can address, the version and a contact (RFC 9110, 10.1.5). */
function userAgent({ agentName, contact }: Config["web"]): string {
	return `${agentName}/${VERSION}${contact === undefined ? "" : ` (+${contact})`}`;
}
