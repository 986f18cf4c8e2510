import { afterAll, expect, test } from "bun:test";
import { createLog } from "../../telemetry/log.ts";
import { SchemaChecker } from "./schema-checker.ts";

const TEST = { tenant: "test", signal: new AbortController().signal };

const checker = new SchemaChecker({ log: createLog("silent"), limitMs: 1_500 });
afterAll(() => checker.stop());

const CITY = {
	type: "object",
	properties: { city: { $ref: "#/$defs/name" }, size: { type: ["integer", "null"], minimum: 1 } },
	required: ["city", "size"],
	additionalProperties: false,
	$defs: { name: { type: "string", minLength: 2, pattern: "^\\p{Lu}" } },
};

test("a value that fits has no faults; of another each is named with its place", async () => {
	expect(await checker.check({ city: "Zürich", size: null }, CITY, TEST)).toEqual([]);
	const faults = await checker.check({ city: "zürich", size: 0, more: true }, CITY, TEST);
	expect(faults?.map((fault) => fault.split(":")[0]).sort()).toEqual(["/city", "/more", "/size", "the whole"]);
	expect(await checker.check([], CITY, TEST)).not.toEqual([]);
});

test("what no schema can decide in time has no answer, and the next check has one", async () => {
	// Each name asks the next one twice.
	const names = Array.from({ length: 40 }, (_, at) => {
		const next = { $ref: `#/$defs/n${at + 1}` };
		return [`n${at}`, { oneOf: [next, next] }] as const;
	});
	const hostile = { $ref: "#/$defs/n0", $defs: { ...Object.fromEntries(names), n40: { type: "string" } } };
	const checks = [
		checker.check("x", hostile, TEST),
		checker.check("x", { $ref: "#" }, TEST),
		checker.check("x", { type: "string", pattern: "(" }, TEST),
		checker.check({ city: "Bern", size: 1 }, CITY, TEST),
	];
	expect(await Promise.all(checks)).toEqual([null, null, null, []]);
});
