import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { type GuardProxy, startGuardProxy } from "./guard-proxy.ts";

let site: Bun.Server<undefined>;
let proxy: GuardProxy;
let asked: string[] = [];
beforeAll(async () => {
	site = Bun.serve({
		hostname: "127.0.0.1",
		port: 0,
		async fetch(request) {
			asked.push(`${request.method} ${new URL(request.url).pathname} ${[...request.headers.keys()].sort().join()}`);
			return new Response(`for ${request.headers.get("host")} ${await request.text()}`);
		},
	});
	proxy = await startGuardProxy({
		trustedHosts: () => [],
		resolve: async (host) => (host === "inside.example" ? ["10.0.0.1"] : ["93.184.216.34"]),
		dial: () => ({ host: "127.0.0.1", port: site.port ?? 0 }),
		refusedHosts: ["own.example"],
	});
});
afterAll(async () => {
	proxy.stop();
	await site.stop(true);
});

/** Sends raw bytes to the proxy; what comes back until it closes, or until `until` is in it. */
function send(text: string, until?: string): Promise<string> {
	return new Promise((resolve, reject) => {
		const socket = connect(proxy.port, "127.0.0.1", () => socket.write(text));
		let answer = "";
		socket.on("data", (piece) => {
			answer += piece.toString();
			if (until === undefined || !answer.includes(until)) return;
			socket.destroy();
			resolve(answer);
		});
		socket.on("close", () => resolve(answer));
		socket.on("error", reject);
	});
}

test("passes requests on to public hosts, each on a connection of its own", async () => {
	asked = [];
	const answer = await send(
		"POST http://site.example/a?b HTTP/1.1\r\nHost: site.example\r\nProxy-Connection: keep-alive\r\nContent-Length: 4\r\n\r\nbody",
	);
	expect(answer).toStartWith("HTTP/1.1 200 OK");
	expect(answer).toEndWith("for site.example body");
	expect(asked).toEqual(["POST /a connection,content-length,host"]);
});

test("tunnels to public hosts", async () => {
	const head = "CONNECT site.example:443 HTTP/1.1\r\nHost: site.example:443\r\n\r\n";
	expect(await send(`${head}GET /in HTTP/1.1\r\nHost: site.example\r\n\r\n`, "for site.example")).toStartWith(
		"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK",
	);
});

test.each([
	"GET http://127.0.0.1/ HTTP/1.1",
	"GET http://localhost/ HTTP/1.1",
	"GET http://inside.example/ HTTP/1.1",
	"GET http://169.254.169.254/latest/ HTTP/1.1",
	"GET http://own.example/ HTTP/1.1",
	"GET ftp://site.example/ HTTP/1.1",
	"GET /relative HTTP/1.1",
	"CONNECT 127.0.0.1:443 HTTP/1.1",
	"CONNECT [::1]:443 HTTP/1.1",
	"CONNECT inside.example:443 HTTP/1.1",
	"CONNECT site.example:25 HTTP/1.1",
	"CONNECT site.example:22/@x HTTP/1.1",
	"nonsense",
])("refuses %s", async (line) => {
	asked = [];
	expect(await send(`${line}\r\nHost: site.example\r\n\r\n`)).toStartWith("HTTP/1.1 403 Forbidden");
	expect(asked).toEqual([]);
});

test("a head without end is refused", async () => {
	expect(await send(`GET http://site.example/ HTTP/1.1\r\nX: ${"a".repeat(70_000)}`)).toStartWith("HTTP/1.1 431");
});
