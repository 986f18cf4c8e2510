import { expect, test } from "bun:test";
import { Traffic, TrafficReport } from "./traffic.ts";

const MINUTE = 60_000;
/** Begins at a full hour. */
const START = 1_800_000_000_000 - (1_800_000_000_000 % 3_600_000);

function at(ms = START) {
	const clock = { ms, now: () => clock.ms };
	const traffic = new Traffic({ wallMs: clock.now });
	return { clock, traffic, report: () => new TrafficReport([traffic.counts()], clock.ms) };
}

test("what was answered is told by what came of it", () => {
	const { traffic, report } = at();
	for (const status of [200, 204, 302, 400, 429, 500, 503, 504]) traffic.note(status, 10, undefined, undefined);
	expect(report().now()).toMatchObject({ requests: 8, refused: 2, errors: 3 });
});

test("without requests there is no latency", () => {
	const { report } = at();
	expect(report().now()).toEqual({ requests: 0, refused: 0, errors: 0, tookMs: null });
	expect(report().ofModel("none")).toEqual({ requests: 0, refused: 0, errors: 0, tookMs: null });
});

test("percentiles are about 10 % exact, from a millisecond to ten minutes", () => {
	const { traffic, report } = at();
	for (let ms = 1; ms <= 1_000; ms++) traffic.note(200, ms, undefined, undefined);
	const { tookMs } = report().now();
	for (const [told, real] of [
		[tookMs?.p50, 500],
		[tookMs?.p95, 950],
		[tookMs?.p99, 990],
	] as const)
		expect(Math.abs((told ?? 0) / real - 1)).toBeLessThan(0.11);
	traffic.note(200, 0, "instant", undefined);
	expect(report().ofModel("instant").tookMs?.p50).toBe(1);
	traffic.note(200, 5_000_000, "endless", undefined);
	expect(report().ofModel("endless").tookMs?.p50).toBeGreaterThan(500_000);
});

test("a minute has its own requests, and leaves after an hour", () => {
	const { clock, traffic, report } = at();
	traffic.note(200, 5, undefined, undefined);
	clock.ms += MINUTE;
	traffic.note(500, 5, undefined, undefined);
	traffic.note(500, 5, undefined, undefined);
	const minutes = report().minutes();
	expect(minutes).toHaveLength(60);
	expect(minutes.slice(-2).map(({ atMs, requests }) => [atMs - START, requests])).toEqual([
		[0, 1],
		[MINUTE, 2],
	]);
	clock.ms = START + 60 * MINUTE;
	expect(
		report()
			.minutes()
			.reduce((sum, { requests }) => sum + requests, 0),
	).toBe(2);
	clock.ms = START + 61 * MINUTE;
	expect(
		report()
			.minutes()
			.every(({ requests }) => requests === 0),
	).toBe(true);
	expect(report().hours().at(-2)?.requests).toBe(3);
});

test("models and upstreams are told apart for five minutes", () => {
	const { clock, traffic, report } = at();
	traffic.note(200, 5, "a", "one");
	traffic.note(503, 5, "b", "one");
	expect(report().ofModel("a")).toMatchObject({ requests: 1, errors: 0 });
	expect(report().ofUpstream("one")).toMatchObject({ requests: 2, errors: 1 });
	clock.ms += 5 * MINUTE;
	expect(report().ofUpstream("one").requests).toBe(0);
});

test("names past the most that are told apart are counted in all only", () => {
	const { traffic, report } = at();
	for (let index = 0; index < 2_100; index++) traffic.note(200, 5, `model-${index}`, undefined);
	expect(report().now().requests).toBe(2_100);
	expect(report().ofModel("model-1999").requests).toBe(1);
	expect(report().ofModel("model-2050").requests).toBe(0);
});

test("the counts of several processes are read as one, also after a copy", () => {
	const { traffic: one } = at();
	const { traffic: other } = at();
	for (let ms = 1; ms <= 500; ms++) one.note(200, ms, "a", "up");
	for (let ms = 501; ms <= 1_000; ms++) other.note(503, ms, "a", "up");
	const report = new TrafficReport([structuredClone(one.counts()), structuredClone(other.counts())], START);
	expect(report.now()).toMatchObject({ requests: 1_000, errors: 500 });
	expect(report.now().tookMs?.p50).toBeWithin(450, 560);
	expect(report.ofUpstream("up")).toEqual(report.now());
	expect(report.hours().at(-1)).toMatchObject({ atMs: START, requests: 1_000 });
});
