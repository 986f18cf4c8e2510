import { connect, createServer, type Server, type Socket } from "node:net";
import type { PublicFetchOptions } from "./public-fetch.ts";
import { privateHost, publicTarget } from "./public-url.ts";
import { addressesOf, systemResolve } from "./resolve-host.ts";

export interface GuardProxyOptions extends Omit<PublicFetchOptions, "userAgent" | "ca"> {
	/** Public hosts that are refused nevertheless: those that a browser calls for itself. */
	readonly refusedHosts?: readonly string[];
}

/** A local proxy for a browser. It reaches only what `PublicFetch` would. */
export interface GuardProxy {
	readonly port: number;
	stop(): void;
}

const MAX_HEAD_BYTES = 65_536;
const HEAD_END = "\r\n\r\n";
const IDLE_MS = 30_000;
const MAX_CONNECTIONS = 256;

/**
 * Starts a proxy on loopback (RFC 9110, 7.3.2 and 9.3.6). It checks the host of every request and connects to the
 * checked address. Requests of a page's scripts are checked like the page's own.
 */
export async function startGuardProxy(options: GuardProxyOptions): Promise<GuardProxy> {
	const open = new Set<Socket>();
	const server: Server = createServer((client) => {
		open.add(client);
		client.on("close", () => open.delete(client));
		client.on("error", () => client.destroy());
		client.setTimeout(IDLE_MS, () => client.destroy());
		readHead(client, (head, rest) => void serve(client, head, rest, options));
	});
	server.maxConnections = MAX_CONNECTIONS;
	await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
	server.unref();
	const address = server.address();
	return {
		port: typeof address === "object" && address !== null ? address.port : 0,
		stop() {
			server.close();
			for (const socket of open) socket.destroy();
		},
	};
}

function readHead(client: Socket, onHead: (head: string, rest: Buffer) => void): void {
	let bytes = Buffer.alloc(0);
	const read = (piece: Buffer) => {
		bytes = Buffer.concat([bytes, piece]);
		const end = bytes.indexOf(HEAD_END);
		if (end < 0 && bytes.length <= MAX_HEAD_BYTES) return;
		client.off("data", read);
		client.pause();
		if (end < 0) client.end("HTTP/1.1 431 Request Header Fields Too Large\r\n\r\n");
		else onHead(bytes.toString("latin1", 0, end), bytes.subarray(end + HEAD_END.length));
	};
	client.on("data", read);
}

async function serve(
	client: Socket,
	head: string,
	rest: Buffer,
	{ trustedHosts, resolve = systemResolve, dial = (host, port) => ({ host, port }), refusedHosts = [] }: GuardProxyOptions,
): Promise<void> {
	const [requestLine = "", ...fields] = head.split("\r\n");
	const [method = "", requestTarget = ""] = requestLine.split(" ");
	const isTunnel = method === "CONNECT";
	try {
		const target = publicTarget(isTunnel ? `https://${requestTarget}/` : requestTarget, new Set(trustedHosts()));
		if (refusedHosts.includes(target.host)) throw privateHost(target.host);
		const [address = ""] = await addressesOf(target, resolve);
		const upstream = connect(dial(address, target.port));
		upstream.setTimeout(IDLE_MS, () => upstream.destroy());
		const end = () => {
			client.destroy();
			upstream.destroy();
		};
		upstream.on("error", end);
		upstream.on("close", () => client.end());
		client.on("close", () => upstream.destroy());
		upstream.on("connect", () => {
			if (isTunnel) client.write("HTTP/1.1 200 Connection established\r\n\r\n");
			else upstream.write(`${originForm(method, target.url, fields)}${HEAD_END}`, "latin1");
			if (rest.length > 0) upstream.write(rest);
			client.pipe(upstream);
			upstream.pipe(client);
			client.resume();
		});
	} catch {
		client.end("HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
	}
}

/** Returns the head of one request on a connection of its own, so that the next request is checked again. */
function originForm(method: string, { pathname, search }: URL, fields: readonly string[]): string {
	const forwarded = fields.filter((field) => !/^(proxy-[^:]*|connection|keep-alive):/i.test(field));
	return [`${method} ${pathname}${search} HTTP/1.1`, ...forwarded, "Connection: close"].join("\r\n");
}
