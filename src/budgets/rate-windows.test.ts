import { expect, test } from "bun:test";
import { ManualClock } from "../telemetry/clock.ts";
import { RateWindows } from "./rate-windows.ts";
import { refused } from "./testing/test-node.ts";

const limit = { requestsPerMinute: 3, tokensPerMinute: 100 };

function windows(max = 1_000) {
	const clock = new ManualClock("2026-03-10T12:00:00.500Z");
	return { clock, rates: new RateWindows(clock, max) };
}

test("takes up to the limit in the 60 s that begin with the first request", async () => {
	const { clock, rates } = windows();
	expect(rates.take("a", "m", limit, 10)).toEqual({
		limitRequests: 3,
		remainingRequests: 2,
		resetAtSeconds: Date.parse("2026-03-10T12:01:01Z") / 1000,
		resetInSeconds: 60,
		limitTokens: 100,
		remainingTokens: 90,
	});
	clock.advance(30_000);
	rates.take("a", "m", limit, 10);
	expect(rates.take("a", "m", limit, 10)).toMatchObject({ remainingRequests: 0, resetInSeconds: 30, remainingTokens: 70 });
	clock.advance(29_500);
	const error = await refused(() => rates.take("a", "m", limit, 10));
	expect([error.status, error.code, error.options.retryAfterSeconds]).toEqual([429, "RATE_LIMIT_EXCEEDED", 1]);
	expect(error.options.headers).toEqual({
		"x-ratelimit-limit-requests": "3",
		"x-ratelimit-remaining-requests": "0",
		"x-ratelimit-reset-requests": `${Date.parse("2026-03-10T12:01:01Z") / 1000}`,
		"x-ratelimit-limit-tokens": "100",
		"x-ratelimit-remaining-tokens": "70",
		"x-ratelimit-reset-tokens": "1",
		"x-ratelimit-type": "user",
	});
	clock.advance(500);
	expect(rates.take("a", "m", limit, 0).remainingRequests).toBe(2);
});

test("counts each account and subject by itself", () => {
	const { rates } = windows();
	for (let i = 0; i < 3; i++) rates.take("a", "m", limit, 0);
	expect(rates.take("b", "m", limit, 0).remainingRequests).toBe(2);
	expect(rates.take("a", "other", limit, 0).remainingRequests).toBe(2);
});

test("refuses once the tokens are used up, counts nothing then, and goes on after a settlement", async () => {
	const { rates } = windows();
	rates.take("a", "m", limit, 100);
	const error = await refused(() => rates.take("a", "m", limit, 1));
	expect(error.message).toContain("100 tokens per minute");
	rates.settle("a", "m", 100, 40);
	expect(rates.take("a", "m", limit, 5)).toMatchObject({ remainingTokens: 55, remainingRequests: 1 });
});

test("tokens without a limit are not in the state or the headers", async () => {
	const { rates } = windows();
	expect(rates.take("a", "m", { requestsPerMinute: 1 }, 5)).not.toHaveProperty("limitTokens");
	const error = await refused(() => rates.take("a", "m", { requestsPerMinute: 1 }, 5));
	expect(Object.keys(error.options.headers ?? {}).some((name) => name.includes("tokens"))).toBe(false);
});

test("a settlement that comes in a later window counts only what goes beyond the estimate", () => {
	const { clock, rates } = windows();
	const lower = rates.take("a", "m", limit, 50);
	clock.advance(60_000);
	rates.take("a", "m", limit, 20);
	rates.settle("a", "m", 50, 10, lower);
	expect(rates.take("a", "m", limit, 0).remainingTokens).toBe(80);
	rates.settle("a", "m", 50, 80, lower);
	expect(rates.take("a", "m", limit, 0).remainingTokens).toBe(50);
	clock.advance(60_000);
	rates.settle("a", "m", 50, 80, lower);
	expect(rates.take("a", "m", limit, 0).remainingTokens).toBe(100);
});

test("a step of the wall clock neither opens nor keeps a window", async () => {
	const { clock, rates } = windows();
	for (let i = 0; i < 3; i++) rates.take("a", "m", limit, 0);
	clock.setWall("2027-01-01T00:00:00Z");
	await refused(() => rates.take("a", "m", limit, 0));
	clock.setWall("2020-01-01T00:00:00Z");
	await refused(() => rates.take("a", "m", limit, 0));
});

test("a changed limit holds at once", async () => {
	const { rates } = windows();
	for (let i = 0; i < 3; i++) rates.take("a", "m", limit, 0);
	expect(rates.take("a", "m", { requestsPerMinute: 10 }, 0).remainingRequests).toBe(6);
	await refused(() => rates.take("a", "m", { requestsPerMinute: 2 }, 0));
});

test("ended windows are forgotten, and no more are kept than the bound", () => {
	const { clock, rates } = windows(100);
	for (let i = 0; i < 50; i++) rates.take("a", `m${i}`, limit, 0);
	clock.advance(60_000);
	rates.take("a", "new", limit, 0);
	expect(rates.size).toBe(1);
	for (let i = 0; i < 500; i++) rates.take("a", `n${i}`, limit, 0);
	expect(rates.size).toBeLessThanOrEqual(100);
});
