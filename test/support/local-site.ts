import { createPublicFetch, type GuardProxy, type PublicFetch, startGuardProxy } from "../../src/upstreams/public-fetch/index.ts";

/** What a path of the site answers. */
export type SitePaths = Record<string, (request: Request) => Response | Promise<Response>>;

/** A site on this machine that stands for the hosts of the internet: every name leads to it, but `inside.example`. */
export interface LocalSite {
	readonly port: number;
	/** Path -> answer; others are 404. */
	paths: SitePaths;
	/** Paths that were asked for, in their order. */
	requests: string[];
	/** Reads as the gateway does, with the site in the place of the internet. */
	readonly fetch: PublicFetch;
	/** The same for a browser. */
	proxy(): Promise<GuardProxy>;
	stop(): Promise<void>;
}

export function startLocalSite(): LocalSite {
	const server = Bun.serve({
		hostname: "127.0.0.1",
		port: 0,
		fetch(request) {
			const { pathname } = new URL(request.url);
			site.requests.push(pathname);
			return site.paths[pathname]?.(request) ?? new Response("not here", { status: 404 });
		},
	});
	const port = server.port ?? 0;
	const internet = {
		trustedHosts: () => [],
		resolve: async (host: string) => (host === "inside.example" ? ["10.0.0.1"] : ["93.184.216.34"]),
		dial: () => ({ host: "127.0.0.1", port }),
	};
	let proxy: Promise<GuardProxy> | null = null;
	const site: LocalSite = {
		port,
		paths: {},
		requests: [],
		fetch: createPublicFetch({ userAgent: () => "Turnpike/test", ...internet }),
		proxy() {
			proxy ??= startGuardProxy(internet);
			return proxy;
		},
		async stop() {
			(await proxy)?.stop();
			await server.stop(true);
		},
	};
	return site;
}
