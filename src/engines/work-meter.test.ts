import { expect, test } from "bun:test";
import { WorkMeter } from "./work-meter.ts";

/** Looks every 100 ms of the wall at a process that gets this share of a core, until the meter says something. */
function lookAt(limitMs: number, share: (ms: number) => number, untilMs: number) {
	const meter = new WorkMeter(limitMs, 0, 0);
	let cpuMs = 0;
	for (let ms = 100; ms <= untilMs; ms += 100) {
		cpuMs += 100 * share(ms);
		// The kernel counts in steps of 10 ms.
		const excess = meter.look(ms, Math.floor(cpuMs / 10) * 10);
		if (excess !== null) return { excess, ms };
	}
	return null;
}

test("the limit is processor time: at a twentieth of a core it comes twenty times later", () => {
	expect(lookAt(60_000, () => 1, 100_000)).toEqual({ excess: "work", ms: 60_100 });
	expect(lookAt(60_000, () => 0.05, 1_190_000)).toBeNull();
	expect(lookAt(60_000, () => 0.05, 1_210_000)).toEqual({ excess: "work", ms: 1_200_200 });
	expect(lookAt(60_000, () => 4, 20_000)).toEqual({ excess: "work", ms: 15_100 });
});

test("a process stalls that gets next to nothing for as long as its limit, or 10 s", () => {
	expect(lookAt(60_000, () => 0.001, 200_000)).toEqual({ excess: "stall", ms: 60_000 });
	expect(lookAt(1_000, () => 0, 200_000)).toEqual({ excess: "stall", ms: 10_000 });
	expect(lookAt(60_000, (ms) => (ms < 50_000 ? 1 : 0), 200_000)).toEqual({ excess: "stall", ms: 120_000 });
});

test("a pause of the whole system is no stall", () => {
	const meter = new WorkMeter(30_000, 0, 0);
	for (let look = 1; look < 29; look++) expect(meter.look(look * 3_600_000, 0)).toBeNull();
	expect(meter.look(30 * 3_600_000, 0)).toBeNull();
	expect(meter.look(31 * 3_600_000, 0)).toBe("stall");
});

test("where the system tells no processor time, the wall counts", () => {
	const meter = new WorkMeter(1_000, 0, null);
	expect(meter.look(1_000, null)).toBeNull();
	expect(meter.look(1_001, null)).toBe("work");
});
