/** Who may call: the Authorization header, keys that end, accounts that are disabled, restrictions of keys. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { disableAccount, enableAccount, revokeKey } from "../../src/store/admin.ts";
import { ManualClock } from "../../src/telemetry/clock.ts";
import { until } from "../support/until.ts";
import { type ChatGateway, errorOf, HELLO, MODEL, PRICED_MODEL, startChatGateway, verdict } from "./chat-gateway.ts";
import { rawExchange } from "./raw-connection.ts";

const clock = new ManualClock(Date.now());
let fixture: ChatGateway;
let open: ChatGateway;

beforeAll(async () => {
	fixture = await startChatGateway({ clock, config: { limits: { failedRequests: 0, listRequestsPerMinute: 5 } } });
	open = await startChatGateway({ config: { models: { public: true }, server: { trustedProxies: ["127.0.0.1"] } } });
});
afterAll(() => Promise.all([fixture.stop(), open.stop()]));

const models = (authorization: string | null, at = fixture) =>
	fetch(`${at.gate.url}/api/v1/models`, { headers: authorization === null ? {} : { authorization } });
const withKey = (key: string, body: object = HELLO, at = fixture) => verdict(at.gate.chat(body, { key }));
const NO_KEY = "401 AUTHENTICATION_FAILED";

test("the scheme word is free in its case; anything else but one token after one space is no key", async () => {
	const { secret } = await fixture.gate.newKey();
	const headers: readonly (readonly [header: string | null, outcome: string])[] = [
		[`Bearer ${secret}`, "200"],
		[`bearer ${secret}`, "200"],
		[`BEARER ${secret}`, "200"],
		[`Bearer ${secret}  `, "200"],
		[null, NO_KEY],
		["", NO_KEY],
		["Bearer", NO_KEY],
		["Bearer ", NO_KEY],
		[secret, NO_KEY],
		[`Basic ${btoa(`user:${secret}`)}`, NO_KEY],
		[`Bearer  ${secret}`, NO_KEY],
		[`Bearer\t${secret}`, NO_KEY],
		[`Bearer ${secret}, Bearer ${secret}`, NO_KEY],
		[`Bearer ${secret},${secret}`, NO_KEY],
		[`Bearer ${secret} x`, NO_KEY],
		[`Bearer "${secret}"`, NO_KEY],
		[`Bearer ${secret.slice(0, -1)}`, NO_KEY],
		[`Bearer ${secret}x`, NO_KEY],
		[`Bearer ${secret.toLowerCase()}`, NO_KEY],
		[`Bearer ${"a".repeat(5_000)}`, NO_KEY],
		["Bearer %00", NO_KEY],
	];
	for (const [header, outcome] of headers) {
		clock.advance(60_000);
		expect(`${header}: ${await verdict(models(header))}`).toBe(`${header}: ${outcome}`);
	}
});

test("a key in x-api-key is taken on every route, where there is no Authorization header", async () => {
	const { secret } = await fixture.gate.newKey();
	const inHeaders = (headers: Record<string, string>, path = "/models") => {
		clock.advance(60_000);
		return verdict(fetch(`${fixture.gate.url}/api/v1${path}`, { headers }));
	};
	for (const path of ["/models", "/api_keys/rate_limits", "/characters", "/billing/balance"])
		expect(`${path}: ${await inHeaders({ "x-api-key": fixture.gate.key }, path)}`).toBe(`${path}: 200`);
	expect(await inHeaders({ "x-api-key": `${secret}x` })).toBe(NO_KEY);
	expect(await inHeaders({ "x-api-key": `Bearer ${secret}` })).toBe(NO_KEY);
	expect(await inHeaders({ "x-api-key": secret, authorization: "Bearer sk_inf_wrong" })).toBe(NO_KEY);
	expect(await inHeaders({ "x-api-key": "sk_inf_wrong", authorization: `Bearer ${secret}` })).toBe("200");
});

test("two Authorization headers are no key, even where both are the same", async () => {
	const { secret } = await fixture.gate.newKey();
	const line = `Authorization: Bearer ${secret}`;
	const head = (...lines: readonly string[]) => ["GET /api/v1/models HTTP/1.1", "Host: localhost", ...lines, "", ""].join("\r\n");
	const { port } = fixture.gate.listening;
	expect((await rawExchange(port, head(line)))?.status).toBe(200);
	expect((await rawExchange(port, head(line, line)))?.status).toBe(401);
	expect((await rawExchange(port, head(line, "Authorization: Basic abc")))?.status).toBe(401);
});

test("a 401 names its scheme, and which of the cases it is", async () => {
	const { secret } = await fixture.gate.newKey({ key: { expiresAtMs: clock.wallMs() + 60_000 } });
	const revoked = await fixture.gate.newKey();
	await revokeKey(fixture.gate.admin, revoked.id);
	clock.advance(60_001);
	for (const [authorization, reason] of [
		[null, "the request has no key; send Authorization: Bearer <key>"],
		["Bearer ", "the request has no key; send Authorization: Bearer <key>"],
		["Basic dXNlcjpwYXNz", 'the Authorization header does not begin with "Bearer "; send Authorization: Bearer <key>'],
		["sk_inf_bare", 'the Authorization header does not begin with "Bearer "; send Authorization: Bearer <key>'],
		["Bearer: sk_inf_colon", 'the Authorization header does not begin with "Bearer "; send Authorization: Bearer <key>'],
		["Bearer two words", "the header does not hold one key; send Authorization: Bearer <key>"],
		["Bearer sk_inf_wrong", "no account of this service has this key"],
		[`Bearer ${revoked.secret}`, "this key was revoked; use another, or make one"],
		[`Bearer ${secret}`, "this key has expired; use another, or make one"],
	] as const) {
		const answer = await models(authorization);
		expect(answer.headers.get("www-authenticate")).toBe("Bearer");
		const { error } = await errorOf(answer);
		expect(error).toEqual({
			message: `Authentication failed: ${reason}`,
			type: "authentication_error",
			param: null,
			code: "AUTHENTICATION_FAILED",
		});
	}
});

test("a key that has expired is no key, from its instant on", async () => {
	const { secret } = await fixture.gate.newKey({ key: { expiresAtMs: clock.wallMs() + 10_000 } });
	expect(await withKey(secret)).toBe("200");
	clock.advance(9_999);
	expect(await withKey(secret)).toBe("200");
	clock.advance(1);
	expect(await withKey(secret)).toBe(NO_KEY);
	const late = await fixture.gate.newKey({ key: { expiresAtMs: clock.wallMs() - 1 } });
	expect(await withKey(late.secret)).toBe(NO_KEY);
});

test("a revoked key ends by itself, its request under way does not", async () => {
	const { id, secret } = await fixture.gate.newKey();
	const gone = Promise.withResolvers<void>();
	fixture.upstream.next({ beforeSecondChunk: gone.promise });
	const running = await fixture.gate.chat({ ...HELLO, stream: true }, { key: secret });
	await revokeKey(fixture.gate.admin, id);
	await until(async () => (await withKey(secret)) === NO_KEY, "the revocation");
	gone.resolve();
	expect(await running.text()).toEndWith("data: [DONE]\n\n");
});

test("a new key works at once, also where it was just tried in vain", async () => {
	const account = (await fixture.gate.newKey()).accountId;
	for (let count = 0; count < 3; count++) expect(await withKey((await fixture.gate.newKey({ account })).secret)).toBe("200");
});

test("a disabled account is told so, and may come back", async () => {
	const { secret, accountId } = await fixture.gate.newKey();
	expect(await withKey(secret)).toBe("200");
	await disableAccount(fixture.gate.admin, accountId);
	await until(async () => (await withKey(secret)) === "403 API_ACCESS_DISABLED", "the end of the account");
	const answer = await models(`Bearer ${secret}`);
	expect(answer.status).toBe(403);
	expect((await errorOf(answer)).error).toMatchObject({ type: "permission_error", code: "API_ACCESS_DISABLED" });
	await enableAccount(fixture.gate.admin, accountId);
	await until(async () => (await withKey(secret)) === "200", "the account's return");
});

const NONE = { models: null, endpoints: null, networks: null, addresses: null };
const restricted = async (rules: object, at = fixture) =>
	(await at.gate.newKey({ key: { restrictions: { ...NONE, ...rules } } })).secret;

test("a key for some models is refused others by name, after the model is known to exist", async () => {
	const key = await restricted({ models: [MODEL] });
	expect(await withKey(key)).toBe("200");
	expect(await withKey(key, { ...HELLO, model: `${MODEL}:strip_thinking_response=true` })).toBe("200");
	expect(await withKey(key, { ...HELLO, model: "no-such-model" })).toBe("404 MODEL_NOT_FOUND");
	const answer = await fixture.gate.chat({ ...HELLO, model: PRICED_MODEL }, { key });
	expect(answer.status).toBe(403);
	const { error, code } = await errorOf(answer);
	expect(code).toBe("UNAUTHORIZED");
	expect(error).toMatchObject({ type: "permission_error", param: "model" });
	expect(error.message).toContain("models");
});

test("a key for some models is refused others on free routes that name one, too", async () => {
	const key = await restricted({ models: [MODEL] });
	const ask = (method: string, path: string, body?: object) =>
		verdict(fixture.gate.call(method, path, body, { authorization: `Bearer ${key}` }));
	const messages = [{ role: "user", content: "hello" }];
	expect(await ask("POST", "/messages/count_tokens", { model: MODEL, messages })).toBe("200");
	expect(await ask("POST", "/messages/count_tokens", { model: PRICED_MODEL, messages })).toStartWith("403");
	const proof = new URLSearchParams({ model: PRICED_MODEL, nonce: "a".repeat(64) });
	expect(await ask("GET", `/tee/attestation?${proof}`)).toStartWith("403");
	const signature = new URLSearchParams({ model: PRICED_MODEL, request_id: "chatcmpl-a" });
	expect(await ask("GET", `/tee/signature?${signature}`)).toStartWith("403");
});

test("a key for some endpoints is refused others by name", async () => {
	const key = await restricted({ endpoints: ["chat"] });
	expect(await withKey(key)).toBe("200");
	const answer = await models(`Bearer ${key}`);
	expect(answer.status).toBe(403);
	expect((await errorOf(answer)).error.message).toMatch(/endpoints.*chat.*models/);
});

test("a key for some addresses works from there only", async () => {
	const rules: readonly (readonly [addresses: readonly string[], outcome: string])[] = [
		[["127.0.0.1"], "200"],
		[["10.0.0.0/8", "127.0.0.0/8"], "200"],
		[["10.0.0.0/8"], "403 UNAUTHORIZED"],
		[["::1"], "403 UNAUTHORIZED"],
		[[], "403 UNAUTHORIZED"],
	];
	for (const [addresses, outcome] of rules) {
		const key = await restricted({ addresses });
		expect(`${addresses}: ${await withKey(key)}`).toBe(`${addresses}: ${outcome}`);
	}
	const { error } = await errorOf(fixture.gate.chat(HELLO, { key: await restricted({ addresses: ["10.0.0.1"] }) }));
	expect(error.message).toContain("addresses");
});

test("behind a trusted proxy the forwarded address counts, else only the socket's", async () => {
	const headers = { "x-forwarded-for": "203.0.113.7" };
	const direct = await restricted({ addresses: ["203.0.113.7"] });
	expect(await verdict(fixture.gate.chat(HELLO, { key: direct, headers }))).toBe("403 UNAUTHORIZED");
	const proxied = await restricted({ addresses: ["203.0.113.7"] }, open);
	expect(await verdict(open.gate.chat(HELLO, { key: proxied, headers }))).toBe("200");
	const spoofed = { "x-forwarded-for": "203.0.113.7, 198.51.100.9" };
	expect(await verdict(open.gate.chat(HELLO, { key: proxied, headers: spoofed }))).toBe("403 UNAUTHORIZED");
});

test("a header that the configuration does not name says nothing about the caller, beside the one that it names or alone", async () => {
	const key = await restricted({ addresses: ["203.0.113.7"] }, open);
	const others = { forwarded: "for=203.0.113.7", "x-real-ip": "203.0.113.7", "true-client-ip": "203.0.113.7" };
	for (const [name, value] of Object.entries(others))
		for (const headers of [{ [name]: value }, { [name]: value, "x-forwarded-for": "198.51.100.9" }])
			expect(await verdict(open.gate.chat(HELLO, { key, headers }))).toBe("403 UNAUTHORIZED");
});

test("/metrics is not opened by what a caller of a proxy says, nor by a header that cannot be read", async () => {
	const metrics = async (headers: Record<string, string>) => (await fetch(`${open.gate.url}/metrics`, { headers })).status;
	expect(await metrics({})).toBe(200);
	expect(await metrics({ "x-forwarded-for": "198.51.100.9", forwarded: "for=127.0.0.1", "x-real-ip": "127.0.0.1" })).toBe(403);
	for (const garbage of ["", "unknown", "127.0.0.1;x", "127.0.0.1 x", "_local"])
		expect(`${garbage}: ${await metrics({ "x-forwarded-for": garbage })}`).toBe(`${garbage}: 403`);
});

test("model lists need a key, unless the configuration opens them; a wrong key is wrong there too", async () => {
	for (const path of ["/models", `/models/${MODEL}`, "/models/traits", "/models/compatibility_mapping", "/characters"]) {
		const outcome = (at: ChatGateway, authorization?: string) =>
			verdict(fetch(`${at.gate.url}/api/v1${path}`, { headers: authorization ? { authorization } : {} }));
		expect(`${path} ${await outcome(fixture)}`).toBe(`${path} ${NO_KEY}`);
		expect(`${path} ${await outcome(open)}`).toBe(`${path} ${path === "/characters" ? NO_KEY : "200"}`);
		expect(`${path} ${await outcome(open, "Bearer wrong")}`).toBe(`${path} ${NO_KEY}`);
		expect(`${path} ${await outcome(open, `Bearer ${open.gate.key}`)}`).toBe(`${path} 200`);
	}
	expect(await verdict(fetch(`${open.gate.url}/api/v1/chat/completions`, { method: "POST" }))).toBe(NO_KEY);
});

test("lists have a limit a minute of their own", async () => {
	const { secret } = await fixture.gate.newKey();
	const list = (path: string) => fixture.gate.call("GET", path, undefined, { authorization: `Bearer ${secret}` });
	for (const path of ["/models", "/models/traits", `/models/${MODEL}`, "/models?type=all", "/characters"])
		expect(await verdict(list(path))).toBe("200");
	const limited = await list("/models");
	expect(limited.status).toBe(429);
	expect(limited.headers.get("retry-after")).toBe("60");
	expect((await errorOf(limited)).error).toMatchObject({ type: "rate_limit_error", code: "RATE_LIMIT_EXCEEDED" });
	expect(await withKey(secret)).toBe("200");
	clock.advance(60_000);
	expect(await verdict(list("/models"))).toBe("200");
});
