/** Unknown paths, wrong methods, HEAD, and what browsers ask for (CORS). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ChatGateway, type ErrorAnswer, HELLO, PRICED_MODEL, startChatGateway } from "./chat-gateway.ts";

let fixture: ChatGateway;
/** Only one origin may call it from a browser. */
let closed: ChatGateway;

beforeAll(async () => {
	fixture = await startChatGateway();
	closed = await startChatGateway({ config: { server: { corsOrigins: ["https://app.example"] } } });
});
afterAll(() => Promise.all([fixture.stop(), closed.stop()]));

/** A request without a credential. */
const bare = (method: string, path: string, headers: Record<string, string> = {}, at = fixture) =>
	fetch(`${at.gate.url}${path}`, { method, headers, redirect: "manual" });

const ID = /^[0-9A-Za-z]{32}$/;

test("an unknown path is a 404 before anything else is looked at", async () => {
	const paths = [
		"/api/v1",
		"/api/v1/",
		"/api/v1/nothing",
		"/api/v2/models",
		"/v1/models",
		"/api/v1/chat",
		"/api/v1/chat/completions/",
		"/api/v1//models",
		"/api/v1/audio/quote",
	];
	for (const path of paths) {
		const answer = await bare("POST", path, { authorization: "Bearer wrong" });
		const { code } = (await answer.json()) as ErrorAnswer;
		expect(`${path}: ${answer.status} ${code}`).toBe(`${path}: 404 NOT_FOUND`);
		expect(answer.headers.get("content-type")).toBe("application/json");
		expect(answer.headers.get("x-request-id")).toMatch(ID);
	}
});

test("below the paths of OpenAI's clients the error is an object, elsewhere it is text", async () => {
	const openAi = (await (await bare("GET", "/api/v1/chat/nothing")).json()) as ErrorAnswer;
	expect(openAi.error).toMatchObject({ type: "invalid_request_error", code: "NOT_FOUND", param: null });
	const other = (await (await bare("GET", "/api/v1/nothing")).json()) as { error: unknown };
	expect(other.error).toContain("/api/v1/nothing");
});

test("a route below a path of OpenAI's clients that is none of theirs tells its refusals in its own form", async () => {
	for (const path of ["/api/v1/audio/voices/%5Cx", "/api/v1/image/edit"]) {
		const { error } = (await (await bare("PATCH", path)).json()) as { error: unknown };
		expect([path, typeof error]).toEqual([path, "string"]);
	}
});

test("an odd path is quoted at a bounded length", async () => {
	const answer = await bare("GET", `/api/v1/${"x".repeat(8_000)}`);
	expect(answer.status).toBe(404);
	expect((await answer.text()).length).toBeLessThan(1_000);
	for (const path of [
		"/api/v1/%",
		"/api/v1/%ff",
		"/api/v1/models/%",
		"/api/v1/models/%ff%fe",
		"/api/v1/models/..%2f..%2fetc",
		"/api/v1/%00",
	])
		expect([400, 401, 404]).toContain((await bare("GET", path)).status);
});

const METHODS: readonly (readonly [path: string, wrong: readonly string[], allow: string])[] = [
	["/api/v1/chat/completions", ["GET", "HEAD", "PUT", "PATCH", "DELETE"], "POST, OPTIONS"],
	["/api/v1/models", ["POST", "PUT", "PATCH", "DELETE"], "GET, HEAD, OPTIONS"],
	["/api/v1/models/some/model:tag", ["POST", "DELETE"], "GET, HEAD, OPTIONS"],
	["/api/v1/characters", ["POST"], "GET, HEAD, OPTIONS"],
	["/api/v1/openapi.json", ["POST"], "GET, HEAD, OPTIONS"],
];

test("a wrong method is a 405 that names the right ones, also without a credential", async () => {
	for (const [path, wrong, allow] of METHODS)
		for (const method of wrong) {
			const answer = await bare(method, path);
			expect(`${method} ${path}: ${answer.status} ${answer.headers.get("allow")}`).toBe(`${method} ${path}: 405 ${allow}`);
			expect(answer.headers.get("x-request-id")).toMatch(ID);
			const text = await answer.text();
			if (method === "HEAD") continue;
			expect((JSON.parse(text) as ErrorAnswer).code).toBe("METHOD_NOT_ALLOWED");
			expect(text).toContain(`does not take ${method}; it takes ${allow}`);
		}
});

test("a path that is nearly one of ours is told the right one", async () => {
	for (const [path, meant] of [
		["/v1/chat/completions", "/api/v1/chat/completions"],
		["/chat/completions", "/api/v1/chat/completions"],
		["/api/chat/completions", "/api/v1/chat/completions"],
		["/openai/v1/models", "/api/v1/models"],
		["/api/v1/v1/messages", "/api/v1/messages"],
		["/api/v1/chat/completions/", "/api/v1/chat/completions"],
		["/v1/models/llama3.2", "/api/v1/models/llama3.2"],
		["/API/V1/Chat/Completions", "/api/v1/chat/completions"],
		["/api/v1//chat//completions", "/api/v1/chat/completions"],
		["/api/v2/chat/completions", "/api/v1/chat/completions"],
		["/api/v1/chat/completion", "/api/v1/chat/completions"],
		["/api/v1/chat/compeltions", "/api/v1/chat/completions"],
		["/api/v1/embedding", "/api/v1/embeddings"],
		["/api/v1/audio/speach", "/api/v1/audio/speech"],
		["/api/v1/image/edits", "/api/v1/image/edit"],
		["/v1/text-parser", "/api/v1/augment/text-parser"],
		["/rpc/base-mainnet", "/api/v1/crypto/rpc/base-mainnet"],
		["/api/v1/usage", "/api/v1/billing/usage"],
		["/v1/Models/Llama3.2", "/api/v1/models/llama3.2"],
	] as const)
		for (const method of ["GET", "POST"]) {
			const answer = await bare(method, path);
			expect([path, answer.status, await answer.text()]).toEqual([path, 404, expect.stringContaining(`; call ${meant}"`)]);
		}
	for (const path of [
		"/api/v1/nothing",
		"/v1/nothing",
		"/nothing",
		`/${"x".repeat(5_000)}`,
		"/",
		"/api",
		"/api/v1/",
		"/favicon.ico",
	])
		expect(await (await bare("GET", path)).text()).not.toContain("; call ");
	const { error } = (await (await bare("POST", "/v1/chat/completions")).json()) as { error: { type: string } };
	expect(error.type).toBe("invalid_request_error");
});

test("HEAD answers what GET does, without the body", async () => {
	for (const path of ["/api/v1/models", "/api/v1/openapi.json", "/docs", "/healthz", "/api/v1/nothing"]) {
		const headers = { authorization: `Bearer ${fixture.gate.key}`, "accept-encoding": "identity" };
		const [get, head] = [await bare("GET", path, headers), await bare("HEAD", path, headers)];
		const length = (await get.arrayBuffer()).byteLength;
		expect(length).toBeGreaterThan(0);
		expect(`${path} ${head.headers.get("content-length")}`).toBe(`${path} ${length}`);
	}
	for (const path of ["/models", "/models/traits", "/openapi.json", "/models/no-such-model"]) {
		const get = await fixture.gate.call("GET", path);
		const head = await fixture.gate.call("HEAD", path);
		expect(await head.text()).toBe("");
		expect(head.status).toBe(get.status);
		expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
		expect(head.headers.get("x-request-id")).toMatch(ID);
		await get.body?.cancel();
	}
	expect((await bare("HEAD", "/api/v1/models")).status).toBe(401);
});

test("probes and pages take GET and HEAD, and their answers have a request id", async () => {
	for (const path of ["/healthz", "/readyz", "/docs", "/"]) {
		for (const method of ["GET", "HEAD"]) expect((await bare(method, path)).headers.get("x-request-id")).toMatch(ID);
		for (const method of ["POST", "PUT", "DELETE"]) {
			const answer = await bare(method, path);
			expect(`${path} ${answer.status} ${answer.headers.get("allow")}`).toBe(`${path} 405 GET, HEAD, OPTIONS`);
			expect(answer.headers.get("x-request-id")).toMatch(ID);
			await answer.body?.cancel();
		}
		expect((await bare("OPTIONS", path)).status).toBe(204);
	}
});

test("probes and pages stand outside the API and need nothing", async () => {
	expect((await bare("GET", "/healthz")).status).toBe(200);
	expect((await bare("GET", "/readyz")).status).toBe(200);
	const docs = await bare("GET", "/docs");
	expect(docs.headers.get("content-type")).toStartWith("text/html");
	expect(await docs.text()).toContain("/chat/completions");
	expect((await bare("GET", "/")).headers.get("location")).toBe("/docs");
	const document = (await (await bare("GET", "/api/v1/openapi.json")).json()) as { openapi: string; paths: object };
	expect(document.openapi).toStartWith("3.1");
	expect(Object.keys(document.paths)).toContain("/chat/completions");
});

const ORIGIN = { origin: "https://app.example" };
const PREFLIGHT = {
	...ORIGIN,
	"access-control-request-method": "POST",
	"access-control-request-headers": "authorization, content-type, x-stainless-os",
};

test("a preflight is answered without a credential, for the method and headers it names", async () => {
	const answer = await bare("OPTIONS", "/api/v1/chat/completions", PREFLIGHT);
	expect(answer.status).toBe(204);
	const { headers } = answer;
	expect(headers.get("access-control-allow-origin")).toBe("*");
	expect(headers.get("access-control-allow-methods")).toContain("POST");
	expect(headers.get("access-control-allow-headers")).toBe(PREFLIGHT["access-control-request-headers"]);
	expect(headers.get("access-control-max-age")).toBe("600");
	expect(headers.get("access-control-allow-credentials")).toBeNull();
	expect(headers.get("x-request-id")).toMatch(ID);
	expect((await bare("OPTIONS", "/api/v1/nothing", PREFLIGHT)).status).toBe(404);
});

test("OPTIONS without an origin names the methods and nothing of browsers", async () => {
	const answer = await bare("OPTIONS", "/api/v1/models");
	expect(answer.status).toBe(204);
	expect(answer.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
	expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
});

test("every answer to a browser may be read by it, errors and streams too", async () => {
	const poor = await fixture.gate.newKey({ creditUsd: "0" });
	const answers = {
		200: fixture.gate.chat(HELLO, { headers: ORIGIN }),
		"200 stream": fixture.gate.chat({ ...HELLO, stream: true }, { headers: ORIGIN }),
		400: fixture.gate.chat({}, { headers: ORIGIN }),
		401: bare("GET", "/api/v1/models", ORIGIN),
		402: fixture.gate.chat({ ...HELLO, model: PRICED_MODEL }, { key: poor.secret, headers: ORIGIN }),
		404: bare("GET", "/api/v1/nothing", ORIGIN),
		405: bare("GET", "/api/v1/chat/completions", ORIGIN),
	};
	for (const [status, pending] of Object.entries(answers)) {
		const answer = await pending;
		expect(answer.status).toBe(Number.parseInt(status, 10));
		expect(answer.headers.get("access-control-allow-origin")).toBe("*");
		const exposed = (answer.headers.get("access-control-expose-headers") ?? "").toLowerCase().split(", ");
		for (const name of ["x-request-id", "retry-after", "x-ratelimit-remaining-requests", "x-service-balance-usd"])
			expect(exposed).toContain(name);
		await answer.body?.cancel();
	}
});

test("where the origins are a list, one of them is named back and the others get nothing", async () => {
	const allowed = await bare("OPTIONS", "/api/v1/models", PREFLIGHT, closed);
	expect(allowed.headers.get("access-control-allow-origin")).toBe("https://app.example");
	expect(allowed.headers.get("vary")).toContain("Origin");
	for (const origin of ["https://evil.example", "https://app.example.evil.example", "http://app.example", "null"]) {
		const preflight = await bare("OPTIONS", "/api/v1/models", { ...PREFLIGHT, origin }, closed);
		const plain = await closed.gate.call("GET", "/models", undefined, { origin });
		for (const answer of [preflight, plain]) {
			expect(answer.headers.get("access-control-allow-origin")).toBeNull();
			expect(answer.headers.get("vary")).toContain("Origin");
			await answer.body?.cancel();
		}
	}
});
