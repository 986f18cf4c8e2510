import { type IncomingMessage, type RequestOptions, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { PublicFetchFault } from "./port.ts";
import type { Target } from "./public-url.ts";

/** Returns where a checked address and port are reached. Only tests use another place. */
export type Dial = (address: string, port: number) => { readonly host: string; readonly port: number };

export interface HttpGet {
	readonly target: Target;
	/** The checked address to connect to. The name is not resolved again. */
	readonly address: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly signal: AbortSignal;
	readonly dial: Dial;
	/** Certificates that are trusted instead of the system's; for tests. */
	readonly ca?: string;
}

/**
 * Sends one GET on a connection of its own, and resolves at the headers. It connects to the address. Host, SNI and the
 * check of the certificate use the URL's name. The environment's proxies are not used.
 * @throws PublicFetchFault `unreachable`; the signal's reason
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
			// A message that nobody reads any more may still fail.
			message.on("error", () => {});
			resolve(message);
		});
		// The listener stays for the life of the request. A fault after the headers is reported by the body.
		call.on("error", (fault) => reject(signal.aborted ? signal.reason : unreachable(host, fault)));
		call.end();
	});
}

function unreachable(host: string, fault: unknown): PublicFetchFault {
	const code = String((fault as { readonly code?: unknown }).code ?? "");
	const certificate = /CERT|SSL|TLS|SIGNED|ISSUER/.test(code);
	return new PublicFetchFault("unreachable", `${host} ${certificate ? "has no valid certificate" : "cannot be reached"}`, fault);
}
