import { expect, test } from "bun:test";
import { Traffic } from "./traffic.ts";

const MINUTE = 60_000;
/** Begins at a full hour. */
const START = 1_800_000_000_000 - (1_800_000_000_000 % 3_600_000);

function at(ms = START) {
	const clock = { ms, now: () => clock.ms };
	return { clock, traffic: new Traffic({ wallMs: clock.now }) };
}

test("what was answered is told by what came of it", () => {
	const { traffic } = at();
	for (const status of [200, 204, 302, 400, 429, 500, 503, 504]) traffic.note(status, 10, undefined, undefined);
	expect(traffic.now()).toMatchObject({ requests: 8, refused: 2, errors: 3 });
});

test("without requests there is no latency", () => {
	const { traffic } = at();
	expect(traffic.now()).toEqual({ requests: 0, refused: 0, errors: 0, tookMs: null });
	expect(traffic.ofModel("none")).toEqual({ requests: 0, refused: 0, errors: 0, tookMs: null });
});

test("percentiles are about 10 % exact, from a millisecond to ten minutes", () => {
	const { traffic } = at();
	for (let ms = 1; ms <= 1_000; ms++) traffic.note(200, ms, undefined, undefined);
	const { tookMs } = traffic.now();
	for (const [told, real] of [
		[tookMs?.p50, 500],
		[tookMs?.p95, 950],
		[tookMs?.p99, 990],
	] as const)
		expect(Math.abs((told ?? 0) / real - 1)).toBeLessThan(0.11);
	traffic.note(200, 0, "instant", undefined);
	expect(traffic.ofModel("instant").tookMs?.p50).toBe(1);
	traffic.note(200, 5_000_000, "endless", undefined);
	expect(traffic.ofModel("endless").tookMs?.p50).toBeGreaterThan(500_000);
});

test("a minute has its own requests, and leaves after an hour", () => {
	const { clock, traffic } = at();
	traffic.note(200, 5, undefined, undefined);
	clock.ms += MINUTE;
	traffic.note(500, 5, undefined, undefined);
	traffic.note(500, 5, undefined, undefined);
	const minutes = traffic.minutes();
	expect(minutes).toHaveLength(60);
	expect(minutes.slice(-2).map(({ atMs, requests }) => [atMs - START, requests])).toEqual([
		[0, 1],
		[MINUTE, 2],
	]);
	clock.ms = START + 60 * MINUTE;
	expect(traffic.minutes().reduce((sum, { requests }) => sum + requests, 0)).toBe(2);
	clock.ms = START + 61 * MINUTE;
	expect(traffic.minutes().every(({ requests }) => requests === 0)).toBe(true);
	expect(traffic.hours().at(-2)?.requests).toBe(3);
});

test("models and upstreams are told apart for five minutes", () => {
	const { clock, traffic } = at();
	traffic.note(200, 5, "a", "one");
	traffic.note(503, 5, "b", "one");
	expect(traffic.ofModel("a")).toMatchObject({ requests: 1, errors: 0 });
	expect(traffic.ofUpstream("one")).toMatchObject({ requests: 2, errors: 1 });
	clock.ms += 5 * MINUTE;
	expect(traffic.ofUpstream("one").requests).toBe(0);
});

test("names past the most that are told apart are counted in all only", () => {
	const { traffic } = at();
	for (let index = 0; index < 2_100; index++) traffic.note(200, 5, `model-${index}`, undefined);
	expect(traffic.now().requests).toBe(2_100);
	expect(traffic.ofModel("model-1999").requests).toBe(1);
	expect(traffic.ofModel("model-2050").requests).toBe(0);
});
