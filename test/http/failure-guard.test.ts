/** More than twenty counted failures in thirty seconds block who made them, and nobody else. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { ManualClock } from "../../src/telemetry/clock.ts";
import { type ChatGateway, errorOf, HELLO, PRICED_MODEL, startChatGateway, verdict } from "./chat-gateway.ts";

const ALLOWED = 20;
const clock = new ManualClock(Date.now());
let fixture: ChatGateway;

beforeAll(async () => {
	fixture = await startChatGateway({ clock, config: { limits: { failedRequests: ALLOWED } } });
});
afterAll(() => fixture.stop());
/** No test sees the failures of another. */
beforeEach(() => clock.advance(120_000));

const fail = (key: string) => verdict(fixture.gate.chat({}, { key }));
const good = (key: string) => verdict(fixture.gate.chat(HELLO, { key }));

test("the twenty-first failure is still answered for what it is; then the key waits half a minute", async () => {
	const { secret } = await fixture.gate.newKey();
	for (let count = 0; count < ALLOWED; count++) expect(await fail(secret)).toBe("400 INVALID_REQUEST");
	expect(await good(secret)).toBe("200");
	expect(await fail(secret)).toBe("400 INVALID_REQUEST");
	clock.advance(5_000);
	const blocked = await fixture.gate.chat(HELLO, { key: secret });
	expect(blocked.status).toBe(429);
	expect(blocked.headers.get("retry-after")).toBe("25");
	expect((await errorOf(blocked)).error.message).toBe("More than 20 failed requests; retry in 25s");
	expect(await verdict(fixture.gate.call("GET", "/models", undefined, { authorization: `Bearer ${secret}` }))).toBe(
		"429 RATE_LIMIT_EXCEEDED",
	);
	clock.advance(24_999);
	expect(await good(secret)).toBe("429 RATE_LIMIT_EXCEEDED");
	clock.advance(1);
	expect(await good(secret)).toBe("200");
	expect(await fail(secret)).toBe("400 INVALID_REQUEST");
	expect(await good(secret)).toBe("200");
});

test("a blocked key blocks neither another key of its account nor callers from the same address", async () => {
	const one = await fixture.gate.newKey();
	const sister = await fixture.gate.newKey({ account: one.accountId });
	for (let count = 0; count <= ALLOWED; count++) await fail(one.secret);
	expect(await good(one.secret)).toBe("429 RATE_LIMIT_EXCEEDED");
	expect(await good(sister.secret)).toBe("200");
	expect(await good(fixture.gate.key)).toBe("200");
	expect(await good("sk_inf_unknown")).toBe("401 AUTHENTICATION_FAILED");
});

test("failures without a key are counted by address, and stop only those without a key", async () => {
	const { secret } = await fixture.gate.newKey();
	for (let count = 0; count <= ALLOWED; count++) expect(await good(`sk_inf_${count}`)).toBe("401 AUTHENTICATION_FAILED");
	expect(await good("sk_inf_again")).toBe("429 RATE_LIMIT_EXCEEDED");
	expect(await verdict(fetch(`${fixture.gate.url}/api/v1/models`))).toBe("429 RATE_LIMIT_EXCEEDED");
	expect(await good(secret)).toBe("200");
	clock.advance(30_000);
	expect(await good("sk_inf_again")).toBe("401 AUTHENTICATION_FAILED");
});

test("every counted status counts", async () => {
	const text = { "content-type": "text/plain" };
	const NONE = { models: null, endpoints: null, networks: null, addresses: null };
	const { secret } = await fixture.gate.newKey({ key: { restrictions: { ...NONE, models: [PRICED_MODEL] } } });
	const failures: readonly (readonly [outcome: string, body: object, headers?: Record<string, string>])[] = [
		["400 INVALID_REQUEST", { ...HELLO, temperature: 9 }],
		["404 MODEL_NOT_FOUND", { ...HELLO, model: "no-such-model" }],
		["415 INVALID_CONTENT_TYPE", HELLO, text],
		["403 UNAUTHORIZED", HELLO],
	];
	for (let count = 0; count <= ALLOWED; count++) {
		const [outcome, body, headers] = failures[count % failures.length] ?? ["", {}];
		expect(await verdict(fixture.gate.chat(body, { key: secret, ...(headers ? { headers } : {}) }))).toBe(outcome);
	}
	expect(await good(secret)).toBe("429 RATE_LIMIT_EXCEEDED");
});

test("what is not the caller's fault, or only costs money, never counts", async () => {
	const { secret } = await fixture.gate.newKey({ creditUsd: "0" });
	for (let count = 0; count <= ALLOWED + 5; count++)
		expect(await verdict(fixture.gate.chat({ ...HELLO, model: PRICED_MODEL }, { key: secret }))).toBe("402 INSUFFICIENT_BALANCE");
	fixture.upstream.always({ status: 500 });
	for (let count = 0; count <= ALLOWED + 5; count++) expect(await good(secret)).toMatch(/^50[03] /);
	fixture.upstream.always({ status: 429 });
	for (let count = 0; count <= ALLOWED + 5; count++) expect(await good(secret)).toMatch(/^(429 MODEL_OVERLOADED|50[03] .*)$/);
	fixture.upstream.always({});
	expect(await fail(secret)).toBe("400 INVALID_REQUEST");
});

test("failures that lie thirty seconds apart do not add up", async () => {
	const { secret } = await fixture.gate.newKey();
	for (let count = 0; count < 3 * ALLOWED; count++) {
		if (count % ALLOWED === 0) clock.advance(30_001);
		expect(await fail(secret)).toBe("400 INVALID_REQUEST");
	}
});
