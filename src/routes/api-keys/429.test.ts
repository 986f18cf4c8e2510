import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import {
	CENT_MODEL,
	FREE_MODEL,
	type KeysGateway,
	startKeysGateway,
	taken,
	verdict,
} from "../../../test/support/keys-gateway.ts";
import { ManualClock } from "../../telemetry/clock.ts";

const clock = new ManualClock("2026-05-05T12:00:00.250Z");
let keys: KeysGateway;

beforeAll(async () => {
	keys = await startKeysGateway({
		clock,
		limits: {
			keyCreationsPerMinute: 20,
			listRequestsPerMinute: 10,
			failedRequests: 3,
			default: { requestsPerMinute: 2, tokensPerMinute: 1_000_000 },
		},
	});
});
afterAll(() => keys.stop());
/** No test sees the windows of another. */
beforeEach(() => clock.advance(120_000));

const NEW = { apiKeyType: "INFERENCE", description: "" };
const createAdmin = () => keys.gate.newKey({ creditUsd: "10", key: { type: "ADMIN" } });

interface LogEntry {
	readonly apiKeyId: string;
	readonly modelId: string;
	readonly rateLimitTier: string;
	readonly rateLimitType: string;
	readonly timestamp: string;
}
const log = async (secret: string) =>
	(await taken<{ data: LogEntry[] }>(await keys.as(secret, "GET", "/api_keys/rate_limits/log"))).data;

test("an account makes twenty keys a minute, whichever of its keys asks", async () => {
	const one = await createAdmin();
	const two = await keys.gate.newKey({ account: one.accountId, key: { type: "ADMIN" } });
	for (let count = 0; count < 20; count++)
		expect(await verdict(keys.as((count % 2 ? one : two).secret, "POST", "/api_keys", NEW))).toBe("200");
	const refused = await keys.as(two.secret, "POST", "/api_keys", NEW);
	expect([refused.status, refused.headers.get("retry-after"), refused.headers.get("x-ratelimit-limit-requests")]).toEqual([
		429,
		"60",
		"20",
	]);
	expect(refused.headers.get("x-ratelimit-type")).toBe("user");
	const other = await createAdmin();
	expect(await verdict(keys.as(other.secret, "POST", "/api_keys", NEW))).toBe("200");
	expect(await verdict(keys.as(one.secret, "GET", "/api_keys"))).toBe("200");
	clock.advance(60_000);
	expect(await verdict(keys.as(one.secret, "POST", "/api_keys", NEW))).toBe("200");
	expect(await verdict(keys.as(one.secret, "GET", "/api_keys"))).toBe("200");
});

test("requests that would make no key take nothing of the minute", async () => {
	const { secret } = await createAdmin();
	for (let count = 0; count < 3; count++)
		expect(await verdict(keys.as(secret, "POST", "/api_keys", {}))).toBe("400 INVALID_REQUEST");
	const answer = await keys.as(secret, "POST", "/api_keys", NEW);
	expect([answer.status, answer.headers.get("x-ratelimit-remaining-requests")]).toEqual([200, "19"]);
});

test("the other routes share the limit of the lists", async () => {
	const { secret, id } = await createAdmin();
	const calls = [
		["GET", "/api_keys"],
		["GET", `/api_keys/${id}`],
		["PATCH", "/api_keys", { id }],
		["GET", "/api_keys/rate_limits"],
		["GET", "/api_keys/rate_limits/log"],
	] as const;
	for (let count = 0; count < 10; count++) {
		const [method, path, body] = calls[count % calls.length] ?? calls[0];
		expect(await verdict(keys.as(secret, method, path, body))).toBe("200");
	}
	for (const [method, path, body] of calls)
		expect(await verdict(keys.as(secret, method, path, body))).toBe("429 RATE_LIMIT_EXCEEDED");
	expect(await verdict(keys.as(secret, "DELETE", `/api_keys?id=${id}`))).toBe("429 RATE_LIMIT_EXCEEDED");
});

test("the log names each refused request of the account, newest first, and of no other", async () => {
	const { secret, id, accountId } = await createAdmin();
	const sister = await keys.gate.newKey({ account: accountId });
	expect(await log(secret)).toEqual([]);
	const chat = (key: string, model: string) =>
		verdict(keys.gate.chat({ model, messages: [{ role: "user", content: "x" }], max_completion_tokens: 1 }, { key }));
	for (const outcome of ["200", "200", "429 RATE_LIMIT_EXCEEDED"]) expect(await chat(secret, FREE_MODEL)).toBe(outcome);
	clock.advance(1_000);
	expect(await chat(sister.secret, FREE_MODEL)).toBe("429 RATE_LIMIT_EXCEEDED");
	clock.advance(1_000);
	for (let count = 0; count < 4; count++)
		expect(await verdict(keys.as(sister.secret, "GET", "/api_keys"))).toBe("403 UNAUTHORIZED");
	expect(await chat(sister.secret, CENT_MODEL)).toBe("429 RATE_LIMIT_EXCEEDED");
	const at = (secondsAgo: number) => new Date(clock.wallMs() - secondsAgo * 1000).toISOString();
	expect(await log(secret)).toEqual([
		{ apiKeyId: sister.id, modelId: "chat", rateLimitTier: "paid", rateLimitType: "FAILED_REQUESTS", timestamp: at(0) },
		{ apiKeyId: sister.id, modelId: FREE_MODEL, rateLimitTier: "paid", rateLimitType: "RPM", timestamp: at(1) },
		{ apiKeyId: id, modelId: FREE_MODEL, rateLimitTier: "paid", rateLimitType: "RPM", timestamp: at(2) },
	]);
	expect(await log((await createAdmin()).secret)).toEqual([]);
});

test("the log keeps fifty entries, and names the endpoint of a limit that is no model's", async () => {
	const { secret, id } = await createAdmin();
	for (let count = 0; count < 20; count++) await keys.as(secret, "POST", "/api_keys", NEW);
	for (let count = 0; count < 60; count++) {
		expect(await verdict(keys.as(secret, "POST", "/api_keys", NEW))).toBe("429 RATE_LIMIT_EXCEEDED");
		clock.advance(10);
	}
	const entries = await log(secret);
	expect(entries).toHaveLength(50);
	expect(new Set(entries.map((entry) => `${entry.apiKeyId} ${entry.modelId} ${entry.rateLimitType}`))).toEqual(
		new Set([`${id} api-keys RPM`]),
	);
	const times = entries.map((entry) => Date.parse(entry.timestamp));
	expect(times).toEqual([...times].sort((a, b) => b - a));
	expect(times[0]).toBe(clock.wallMs() - 10);
});
