import { type IncomingMessage, type RequestOptions, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { PublicFetchFault } from "./port.ts";
import type { Target } from "./public-url.ts";

/** Where a checked address and port are reached; another place only in tests. */
export type Dial = (address: string, port: number) => { readonly host: string; readonly port: number };

export interface HttpGet {
	readonly target: Target;
	/** The checked address that is connected to: the name is not resolved again. */
	readonly address: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly signal: AbortSignal;
	readonly dial: Dial;
	/** Certificates that are trusted in place of the system's; for tests. */
	readonly ca?: string;
}

/**
 * One GET on a connection of its own. Resolves at the headers. The connection goes to the address; Host, SNI and the
 * check of the certificate take the URL's name. The environment's proxies are not asked.
 * @throws PublicFetchFault `unreachable`; what `signal` aborts with
 */
export function httpGet({ target, address, headers, signal, dial, ca }: HttpGet): Promise<IncomingMessage> {
	const { url, host, port, isAddress } = target;
	const place = dial(address, port);
	const options: RequestOptions & { servername?: string; ca?: string } = {
		...place,
		path: url.pathname + url.search,
		method: "GET",
		headers: { host: url.host, ...headers },
		agent: false,
		signal,
	};
	if (url.protocol === "https:" && !isAddress) options.servername = host;
	if (ca !== undefined) options.ca = ca;
	return new Promise((resolve, reject) => {
		const call = (url.protocol === "https:" ? requestHttps : requestHttp)(options, (message) => {
			// What nobody reads any more may still break off.
			message.on("error", () => {});
			resolve(message);
		});
		// Stays for the life of the request: a fault after the headers is told by the body.
		call.on("error", (fault) => reject(signal.aborted ? signal.reason : unreachable(host, fault)));
		call.end();
	});
}

function unreachable(host: string, fault: unknown): PublicFetchFault {
	const code = String((fault as { readonly code?: unknown }).code ?? "");
	const certificate = /CERT|SSL|TLS|SIGNED|ISSUER/.test(code);
	return new PublicFetchFault("unreachable", `${host} ${certificate ? "has no valid certificate" : "cannot be reached"}`, fault);
}
