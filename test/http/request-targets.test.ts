/** Every form of a request target on a raw socket, straight to the server and through the nginx that deploy/ ships. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { NGINX, type ShippedProxy, startComposedNginx } from "../support/shipped-proxies.ts";
import { type ChatGateway, HELLO, startChatGateway } from "./chat-gateway.ts";
import { type RawAnswer, RawConnection, rawExchange } from "./raw-connection.ts";

let fixture: ChatGateway;
let port: number;
let nginx: ShippedProxy | null = null;

beforeAll(async () => {
	fixture = await startChatGateway({ config: { models: { public: true }, server: { trustedProxies: ["127.0.0.1"] } } });
	port = fixture.gate.listening.port;
	if (NGINX !== null) nginx = await startComposedNginx(NGINX, fixture.gate.url);
});
afterAll(async () => {
	await nginx?.stop();
	await fixture.stop();
});

const get = (target: string, at: number, version = "1.1", host = "Host: localhost\r\n") =>
	rawExchange(at, Buffer.from(`GET ${target} HTTP/${version}\r\n${host}Connection: close\r\n\r\n`, "latin1"));

const isMetrics = (answer: RawAnswer | null) => answer?.body.includes("# TYPE") === true;

/** Below: `{}` is the path of a page, without its slash. All of them are read as that page by some server. */
const FOLDED = [
	"/.\\{}",
	"/x\\..\\{}",
	"/x/..\\{}",
	"\\{}",
	"/\\{}",
	"/./{}",
	"/x/../{}",
	"/x/%2e%2e/{}",
	"/x/.%2E/{}",
	"/%2e/{}",
	"/%2e%5c{}",
	"/x%5c..%5c{}",
	"/x%2f..%2f{}",
	"/x%2f..%5c{}",
	"/..%5c{}",
	"//{}",
	"///{}",
	"//../{}",
	"/x//../{}",
	"/{}/",
	"/{}//",
	"/{}/.",
	"/{}/x/..",
	"/{}\\",
	"/{}%00",
	"/{}%5c",
	"/{}#",
	"/{}#/../x",
	"/{}%23",
	"/{};x",
	"/{}\0",
	"/{} ",
	"/{}\t",
	"http://localhost/.\\{}",
	"http://localhost/x/../{}",
	"http://localhost//{}",
	"http://u@localhost/x\\..\\{}",
	"{}",
	"localhost/{}",
	"localhost:80",
	"*",
	"?/{}",
	`/${"x/".repeat(30)}${"../".repeat(30)}{}`,
];

test("a path that some server would fold into another one is refused, never folded", async () => {
	for (const page of ["metrics", "healthz", "docs", "api/v1/models"])
		for (const form of FOLDED) {
			const target = form.replaceAll("{}", page);
			const answer = await get(target, port);
			expect(`${target}: ${answer?.status}`).toMatch(/: (?:400|404|505)$/);
		}
});

test("a backslash, a dot segment and a NUL are named in the refusal", async () => {
	for (const target of ["/.\\metrics", "/a/../metrics", "/a/%2e%2E/metrics", "/api/v1/models/%00", "/metrics%5c"]) {
		const answer = await get(target, port);
		expect(answer?.status).toBe(400);
		expect(answer?.headers.get("x-request-id")).toMatch(/^[0-9A-Za-z]{32}$/);
		expect(JSON.parse(answer?.body ?? "{}").code).toBe("INVALID_REQUEST");
		expect(answer?.body).toContain("a dot segment, a backslash or a NUL");
	}
	expect((await get("/healthz#x", port))?.body).toContain("%23");
});

test.skipIf(NGINX === null)("nothing that nginx keeps inside is reached through it by any spelling", async () => {
	const at = nginx?.port ?? 0;
	expect(isMetrics(await get("/metrics", port))).toBe(true);
	expect((await get("/readyz", at))?.body).toBe("ready\n");
	const targets = [
		"/metrics",
		"/%6detrics",
		"/metrics?x",
		"http://localhost/metrics",
		"/metrics?#",
		...FOLDED.map((form) => form.replaceAll("{}", "metrics")),
	];
	for (const target of targets) expect(`${target}: ${isMetrics(await get(target, at))}`).toBe(`${target}: false`);
});

test("the forms of a target that RFC 9112 has are taken", async () => {
	for (const target of [
		"/healthz",
		"/healthz?a=%5c..%2f\\",
		"http://localhost/healthz",
		"HTTP://other.example:81/healthz",
		"/%68ealthz",
	])
		expect(`${target}: ${(await get(target, port))?.status}`).toBe(`${target}: 200`);
	expect((await get("http://localhost", port))?.status).toBe(302);
	// Names with slashes, colons and encoded characters are data, not paths.
	expect((await get("/api/v1/models/some%2Fmodel:tag", port))?.status).toBe(404);
	expect((await get(`/api/v1/models/${encodeURIComponent("plain-model")}`, port))?.status).toBe(200);
});

test("HTTP/1.0 without a Host, and an empty Host, reach the path that they name", async () => {
	for (const [version, host] of [
		["1.0", ""],
		["1.0", "Host:\r\n"],
		["1.0", "Host: localhost\r\n"],
		["1.1", "Host:\r\n"],
		["1.1", "Host: \r\n"],
	] as const) {
		expect((await get("/readyz", port, version, host))?.body).toBe("ready\n");
		expect((await get("/api/v1/models", port, version, host))?.status).toBe(200);
		expect((await get("/x/api/v1/models", port, version, host))?.status).toBe(404);
		expect((await get("/x/../readyz", port, version, host))?.status).toBe(400);
		expect((await get("/.\\readyz", port, version, host))?.status).toBe(400);
	}
	expect((await get("/readyz", port, "1.1", ""))?.status).toBe(400);
	expect((await get("/readyz", port, "1.1", "Host: a\r\nHost: b\r\n"))?.status).toBe(400);
});

test("a chat by HTTP/1.0 without a Host is answered whole, and its stream has no chunks", async () => {
	for (const stream of [false, true]) {
		const body = JSON.stringify({ ...HELLO, stream });
		const lines = [
			`Authorization: Bearer ${fixture.gate.key}`,
			"Content-Type: application/json",
			`Content-Length: ${body.length}`,
		];
		const connection = await RawConnection.open(port);
		await connection.send(`POST /api/v1/chat/completions HTTP/1.0\r\n${lines.join("\r\n")}\r\n\r\n${body}`);
		await connection.closed();
		const answer = connection.received();
		expect(answer).toStartWith("HTTP/1.1 200 OK\r\n");
		expect(answer.toLowerCase()).not.toContain("transfer-encoding");
		expect(answer.trimEnd()).toEndWith(stream ? "data: [DONE]" : "}");
		connection.destroy();
	}
});
