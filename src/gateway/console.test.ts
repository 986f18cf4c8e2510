import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminGateway, startAdminGateway } from "../../test/support/admin-gateway.ts";
import { type ConsoleClient, cookieIn, signIn, signInWith } from "../../test/support/console-gateway.ts";
import { CENT_MODEL, taken, verdict } from "../../test/support/keys-gateway.ts";
import { startGateway } from "../../test/support/running-gateway.ts";
import { ManualClock } from "../telemetry/clock.ts";

const HOUR = 3_600_000;

let admin: AdminGateway;
let console: ConsoleClient;
let url: string;

beforeAll(async () => {
	admin = await startAdminGateway();
	({ url } = admin.gate);
	console = await signIn(url, admin.gate.key);
});
afterAll(() => admin.stop());

const CHAT = { model: CENT_MODEL, messages: [{ role: "user", content: "x" }], max_completion_tokens: 2 };

/** An ADMIN key of the operator's account. */
const operatorKey = (key: object = {}) => admin.gate.newKey({ account: admin.gate.accountId, key: { type: "ADMIN", ...key } });

test("the cookie is for the console's pages alone, and its secret is stored nowhere", async () => {
	const answer = await signInWith(url, admin.gate.key);
	expect(answer.headers.get("set-cookie")).toMatch(
		/^turnpike_console=[\w-]{43}\.[\w-]{43}; Path=\/console; Max-Age=43\d{3}; HttpOnly; SameSite=Strict$/,
	);
	const rows = await admin.gate.admin.db.selectFrom("console_sessions").selectAll().execute();
	const secret = cookieIn(answer).split("=")[1] ?? "";
	expect(rows.length).toBeGreaterThan(0);
	expect(JSON.stringify(rows, (_, value) => String(value))).not.toContain(secret);
});

test("who is signed in is told, without the key", async () => {
	const session = await console.get<ConsoleClient["session"]>("/session");
	expect(session.account).toEqual({ id: admin.gate.accountId, name: "operator" });
	expect(session.csrfToken).toBe(console.session.csrfToken);
	expect(JSON.stringify(session)).not.toContain(admin.gate.key);
});

test("only an ADMIN key of the operator's account signs in", async () => {
	const { secret: inference } = await admin.gate.newKey({ account: admin.gate.accountId });
	const { secret: customer } = await admin.gate.newKey({ key: { type: "ADMIN" } });
	const { secret: expired } = await operatorKey({ expiresAtMs: Date.now() - 1 });
	const { secret: elsewhere } = await operatorKey({
		restrictions: { models: null, endpoints: null, networks: null, addresses: ["192.0.2.7"] },
	});
	expect(await verdict(signInWith(url, "sk_adm_nobody"))).toBe("401 AUTHENTICATION_FAILED");
	expect(await verdict(signInWith(url, expired))).toBe("401 AUTHENTICATION_FAILED");
	for (const key of [inference, customer, elsewhere]) expect(await verdict(signInWith(url, key))).toBe("403 UNAUTHORIZED");
	expect(await verdict(signInWith(url, ""))).toBe("400 INVALID_REQUEST");
	expect(await verdict(signInWith(url, "x".repeat(201)))).toBe("400 INVALID_REQUEST");
});

test("where callers use https the cookie goes over https alone; a key's restrictions let it in, or keep it out", async () => {
	const gate = await startGateway({ config: { server: { publicUrl: "https://api.example.test" } } });
	const create = async (endpoints: string[]) => {
		const body = { apiKeyType: "ADMIN", description: "restricted", restrictions: { endpoints } };
		return (await taken<{ data: { apiKey: string } }>(await gate.call("POST", "/api_keys", body))).data.apiKey;
	};
	try {
		expect((await signInWith(gate.url, gate.key)).headers.get("set-cookie")).toEndWith("; HttpOnly; SameSite=Strict; Secure");
		expect(await verdict(signInWith(gate.url, await create(["chat"])))).toBe("403 UNAUTHORIZED");
		const restricted = await signIn(gate.url, await create(["console", "models"]));
		expect((await restricted.ask("GET", "/overview")).status).toBe(200);
		expect((await restricted.ask("GET", "/play/models")).status).toBe(200);
		expect(await verdict(restricted.ask("POST", "/play/chat/completions", CHAT))).toBe("403 UNAUTHORIZED");
		expect(await verdict(restricted.ask("POST", "/accounts", { name: "not with this key" }))).toBe("403 UNAUTHORIZED");
	} finally {
		await gate.stop();
	}
});

test("without a session there is nothing, whatever key comes in a header", async () => {
	const ask = (headers: Record<string, string>, path = "/session") => verdict(fetch(`${url}/console/api${path}`, { headers }));
	const made = `${"a".repeat(43)}.${"b".repeat(43)}`;
	for (const headers of [
		{},
		{ authorization: `Bearer ${admin.gate.key}` },
		{ cookie: "turnpike_console=" },
		{ cookie: `turnpike_console=${made}` },
		{ cookie: `turnpike_console=${console.cookie.split("=")[1]?.replace(/.$/, "!")}` },
		{ cookie: `other=1; turnpike_console=${"x".repeat(5000)}` },
	] as Record<string, string>[])
		for (const path of ["/session", "/overview", "/accounts", "/play/models", "/no-such-path"])
			expect(await ask(headers, path)).toBe("401 AUTHENTICATION_FAILED");
});

test("the cookie is no credential of the API", async () => {
	const chat = fetch(`${url}/api/v1/chat/completions`, {
		method: "POST",
		headers: { cookie: console.cookie, "x-csrf-token": console.session.csrfToken, "content-type": "application/json" },
		body: JSON.stringify(CHAT),
	});
	expect(await verdict(chat)).toBe("401 AUTHENTICATION_FAILED");
});

test("a change without the session's token, or from another site, is refused and changes nothing", async () => {
	const { session: other } = await signIn(url, admin.gate.key);
	const before = admin.gate.gateway.config.log.level;
	for (const headers of [
		{ "x-csrf-token": "" },
		{ "x-csrf-token": "wrong" },
		{ "x-csrf-token": other.csrfToken },
		{ "sec-fetch-site": "cross-site" },
		{ "sec-fetch-site": "same-site" },
	] as Record<string, string>[]) {
		for (const [method, path, body] of [
			["PUT", "/log-level", { level: "debug" }],
			["POST", "/accounts", { name: "forged" }],
			["POST", "/play/chat/completions", CHAT],
			["POST", "/books", undefined],
			["DELETE", "/session", undefined],
		] as const)
			expect(await verdict(console.ask(method, path, body, headers))).toBe("403 UNAUTHORIZED");
	}
	expect(admin.gate.gateway.config.log.level).toBe(before);
	expect((await console.get<{ data: unknown[] }>("/accounts?search=forged")).data).toEqual([]);
	expect(await verdict(signInWith(url, admin.gate.key, { "sec-fetch-site": "cross-site" }))).toBe("403 UNAUTHORIZED");
});

test("a session ends by signing out, and with its key", async () => {
	const first = await signIn(url, admin.gate.key);
	const out = await first.ask("DELETE", "/session");
	expect([out.status, out.headers.get("set-cookie")]).toEqual([
		200,
		"turnpike_console=; Path=/console; Max-Age=0; HttpOnly; SameSite=Strict",
	]);
	expect(await verdict(first.ask("GET", "/session"))).toBe("401 AUTHENTICATION_FAILED");
	const { id, secret } = await operatorKey();
	const second = await signIn(url, secret);
	await console.change("DELETE", `/accounts/${admin.gate.accountId}/keys/${id}`);
	expect(await verdict(second.ask("GET", "/overview"))).toBe("401 AUTHENTICATION_FAILED");
	expect(await verdict(second.ask("POST", "/play/chat/completions", CHAT))).toBe("401 AUTHENTICATION_FAILED");
});

test("every answer has the headers that browsers honour, and no origin is let in", async () => {
	for (const answer of [
		await console.ask("GET", "/overview", undefined, { origin: "https://elsewhere.example" }),
		await console.ask("POST", "/play/chat/completions", CHAT, { origin: "https://elsewhere.example" }),
		await console.ask("GET", "/no-such-path"),
		await fetch(`${url}/console/api/session`),
		await fetch(`${url}/console`),
		await fetch(`${url}/console/api/overview`, { method: "OPTIONS", headers: { origin: "https://elsewhere.example" } }),
	]) {
		const { headers } = answer;
		expect(headers.get("content-security-policy")).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
		expect(headers.get("content-security-policy")).not.toContain("unsafe");
		expect(headers.get("x-content-type-options")).toBe("nosniff");
		expect(headers.get("referrer-policy")).toBe("no-referrer");
		expect(headers.get("access-control-allow-origin")).toBeNull();
		expect(headers.get("x-request-id")).toMatch(/^[0-9a-f]{32}$/);
		if (new URL(answer.url).pathname.startsWith("/console/api")) expect(headers.get("cache-control")).toBe("no-store");
	}
});

test("unknown paths are 404, and other methods 405", async () => {
	expect(await verdict(console.ask("GET", "/no-such-path"))).toBe("404 NOT_FOUND");
	expect(await verdict(console.ask("POST", "/overview"))).toBe("405 METHOD_NOT_ALLOWED");
	expect(await verdict(console.ask("GET", "/overview?days=0"))).toBe("400 INVALID_REQUEST");
	expect(await verdict(fetch(`${url}/console`, { method: "POST" }))).toBe("405 METHOD_NOT_ALLOWED");
	expect((await console.ask("HEAD", "/session")).status).toBe(200);
});

test("the playground is the API's own endpoint, paid by the operator's account", async () => {
	const before = await admin.gate.balance();
	const other = await admin.gate.newKey({ creditUsd: "5" });
	const answer = await console.ask("POST", "/play/chat/completions", CHAT, {
		authorization: `Bearer ${other.secret}`,
		"x-api-key": other.secret,
		"x-sign-in-with-x": "e30=",
	});
	expect(answer.status).toBe(200);
	expect(answer.headers.get("x-service-model-id")).toBe(CENT_MODEL);
	expect(answer.headers.get("x-ratelimit-remaining-requests")).not.toBeNull();
	expect(before - (await admin.gate.balance())).toBe(20_000_000);
	const post = (await admin.gate.posts()).find(({ request_id }) => request_id === answer.headers.get("x-request-id"));
	expect(post).toMatchObject({ account_id: admin.gate.accountId, price: 20_000_000 });
});

test("a stream of the playground comes as the API sends it", async () => {
	const answer = await console.ask("POST", "/play/chat/completions", { ...CHAT, stream: true });
	expect(answer.headers.get("content-type")).toContain("text/event-stream");
	expect((await answer.text()).trim().endsWith("data: [DONE]")).toBe(true);
	const refused = console.ask("POST", "/play/chat/completions", { ...CHAT, temperature: 9 });
	expect(await verdict(refused)).toBe("400 INVALID_REQUEST");
});

test("files and large bodies go through the playground as they are", async () => {
	const form = new FormData();
	form.set("file", new File(["Hello from a file. ".repeat(10_000)], "hello.txt", { type: "text/plain" }));
	const parsed = await console.change<{ text: string }>("POST", "/play/augment/text-parser", form);
	expect(parsed.text.startsWith("Hello from a file.")).toBe(true);
	const large = { ...CHAT, messages: [{ role: "user", content: "x".repeat(300_000) }] };
	expect((await verdict(console.ask("POST", "/play/chat/completions", large))).slice(0, 3)).toMatch(/200|400/);
	expect(await verdict(console.ask("POST", "/play/chat/completions", "no object"))).toBe("400 INVALID_REQUEST");
});

test("accounts, keys and money are no playground", async () => {
	for (const path of ["admin/accounts", "api_keys", "api_keys/rate_limits", "x402/top-up", "admin"])
		for (const method of ["GET", "POST"]) expect(await verdict(console.ask(method, `/play/${path}`))).toBe("404 NOT_FOUND");
	for (const path of ["%61pi_keys", "%61dmin/accounts", "/api_keys", "%2Fapi_keys", "%"])
		expect(await verdict(console.ask("GET", `/play/${path}`))).toBe("404 NOT_FOUND");
});

test("accounts, keys and money are changed as over the API", async () => {
	const { data: account } = await console.change<{ data: { id: string } }>("POST", "/accounts", { name: "shop", creditUsd: "1" });
	const path = `/accounts/${account.id}`;
	const { data: key } = await console.change<{ data: { id: string; apiKey: string } }>("POST", `${path}/keys`, {
		apiKeyType: "INFERENCE",
		description: "till",
	});
	await console.change("PATCH", `${path}/keys/${key.id}`, { consumptionLimit: { usd: 0.02 } });
	expect(await admin.spend(key.apiKey, 2)).toBe("200");
	expect(await admin.spend(key.apiKey, 1)).toBe("402 API_KEY_USD_SPEND_LIMIT_EXCEEDED");
	expect(await verdict(console.ask("POST", `${path}/credits`, { amountUsd: "2" }))).toBe("400 IDEMPOTENCY_KEY_INVALID");
	for (let time = 0; time < 2; time++)
		await console.change("POST", `${path}/credits`, { amountUsd: "2" }, { "idempotency-key": "console-1" });
	await console.change("POST", `${path}/debits`, { amountUsd: "0.5" }, { "idempotency-key": "console-2" });
	expect((await console.get<{ data: object }>(path)).data).toMatchObject({ name: "shop", balanceUsd: "2.4800" });
	await console.change("PATCH", path, { disabled: true });
	expect(await admin.spend(key.apiKey, 1)).toBe("403 API_ACCESS_DISABLED");
	await console.change("DELETE", `${path}/keys/${key.id}`);
	expect((await console.get<{ data: unknown[] }>(`${path}/keys`)).data).toEqual([]);
	expect((await console.get<{ data: { reference: string }[] }>(`${path}/credits`)).data[0]?.reference).toBe("console-1");
});

test("sign-ins of one address are counted", async () => {
	const verdicts: string[] = [];
	for (let time = 0; time < 40 && verdicts.at(-1) !== "429 RATE_LIMIT_EXCEEDED"; time++)
		verdicts.push(await verdict(signInWith(url, "sk_adm_guess")));
	expect(verdicts.at(-1)).toBe("429 RATE_LIMIT_EXCEEDED");
	expect(verdicts.length).toBeLessThanOrEqual(11);
	expect(await verdict(signInWith(url, admin.gate.key))).toBe("429 RATE_LIMIT_EXCEEDED");
	expect((await console.ask("GET", "/session")).status).toBe(200);
});

test("a session lives on while it is used, twelve hours without, and a week at most", async () => {
	const clock = new ManualClock(Date.now());
	const other = await startAdminGateway({ clock });
	try {
		const { gate } = other;
		const used = await signIn(gate.url, gate.key);
		const unused = await signIn(gate.url, gate.key);
		clock.advance(5 * 60_000);
		expect((await used.ask("GET", "/session")).headers.get("set-cookie")).toBeNull();
		clock.advance(11 * HOUR);
		expect((await used.ask("GET", "/session")).headers.get("set-cookie")).toContain("Max-Age=43200;");
		clock.advance(HOUR);
		expect(await verdict(unused.ask("GET", "/session"))).toBe("401 AUTHENTICATION_FAILED");
		for (let hours = 12; hours < 7 * 24 - 11; hours += 11) {
			expect((await used.ask("GET", "/session")).status).toBe(200);
			clock.advance(11 * HOUR);
		}
		clock.advance(11 * HOUR);
		expect(await verdict(used.ask("GET", "/session"))).toBe("401 AUTHENTICATION_FAILED");
	} finally {
		await other.stop();
	}
});
