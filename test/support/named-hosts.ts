import { createPublicFetch, type PublicFetch } from "../../src/upstreams/public-fetch/index.ts";

/** An address of the internet that stands for the local server; nothing leaves the machine. */
const PUBLIC = "93.184.216.34";

export interface NamedHosts {
	/** The guarded reader, with names of its own. */
	readonly fetch: PublicFetch;
	/** Paths that the server was asked for, with their host. */
	readonly requests: string[];
	stop(): Promise<void>;
}

/**
 * Hosts by name behind the guard of addresses: `site.example` is the local server with `files` by path, `inside.example` leads
 * to a private address, `redirects.example` answers with a redirect there, `changes.example` is public once and private then.
 */
export function startNamedHosts(files: Readonly<Record<string, Uint8Array>>): NamedHosts {
	const requests: string[] = [];
	let lookups = 0;
	const server = Bun.serve({
		hostname: "127.0.0.1",
		port: 0,
		fetch(request) {
			const host = request.headers.get("host") ?? "";
			const { pathname } = new URL(request.url);
			requests.push(`${host}${pathname}`);
			const location = { "redirects.example": "http://127.0.0.1/a.png", "changes.example": "http://changes.example/b.png" }[host];
			if (location !== undefined) return new Response(null, { status: 302, headers: { location } });
			const file = files[pathname];
			return file === undefined ? new Response("no", { status: 404 }) : new Response(file as Uint8Array<ArrayBuffer>);
		},
	});
	const fetch = createPublicFetch({
		userAgent: () => "Turnpike/test",
		trustedHosts: () => [],
		async resolve(host) {
			if (host === "inside.example") return ["10.0.0.7"];
			if (host === "nobody.example") throw new Error("ENOTFOUND");
			if (host === "changes.example" && lookups++ > 0) return ["127.0.0.1"];
			return [PUBLIC];
		},
		dial: (address) => ({ host: "127.0.0.1", port: address === PUBLIC ? (server.port ?? 0) : 9 }),
	});
	return { fetch, requests, stop: () => server.stop(true) };
}
