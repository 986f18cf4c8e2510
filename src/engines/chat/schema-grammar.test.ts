import { describe, expect, test } from "bun:test";
import { grammarForSchema, SchemaUnsupported } from "./schema-grammar.ts";

const refused = (schema: unknown, strict = false): string => {
	try {
		grammarForSchema(schema, strict);
	} catch (fault) {
		expect(fault).toBeInstanceOf(SchemaUnsupported);
		return fault instanceof Error ? fault.message : "";
	}
	return "";
};

describe("a schema that cannot be kept is refused with its place", () => {
	test.each([
		[{ not: {} }, "#/not"],
		[{ type: "object", properties: { a: { if: {} } } }, "#/properties/a/if"],
		[{ type: "object", properties: { a: false } }, "#/properties/a"],
		[{ type: "objekt" }, "#/type"],
		[{ $ref: "https://example.com/schema" }, "#/$ref"],
		[{ $ref: "#/$defs/absent" }, "#/$defs/absent"],
		[{ $ref: "#" }, "itself"],
		[{ enum: [] }, "#/enum"],
		[{ type: "string", minLength: 5, maxLength: 2 }, "maximum below"],
		[{ type: "string", minLength: -1 }, "#/minLength"],
		[{ type: "array", minItems: 100_000 }, "repetitions"],
		[{ type: "object", properties: [] }, "#/properties"],
		[{ allOf: {} }, "#/allOf"],
		["string", "#"],
		[null, "#"],
		[false, "#"],
	])("%j", (schema, place) => {
		expect(refused(schema)).toContain(place);
	});

	test("also where it is too deep or too large", () => {
		let deep: object = { type: "string" };
		for (let level = 0; level < 200; level += 1) deep = { type: "array", items: deep };
		expect(refused(deep)).toContain("deeper");
		const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`p${index}`, { type: "string" }]));
		expect(refused({ type: "object", properties: wide })).not.toBe("");
		expect(refused({ enum: [`${"x".repeat(300_000)}`] })).toContain("large");
	});
});

test("rules about values are ignored, or refused where the caller is strict", () => {
	const schema = { type: "object", properties: { age: { type: "integer", minimum: 0, maximum: 150 } } };
	expect(refused(schema)).toBe("");
	expect(refused(schema, true)).toContain("#/properties/age/minimum");
});

test("names are written so that no schema can break out of its literal", () => {
	const grammar = grammarForSchema({ type: "object", properties: { 'a"b\\c\n]': { const: '"\u0000' } } });
	expect(grammar).toContain(String.raw`"\"a\\\"b\\\\c\\n]\"" ":" ws`);
	expect(grammar.split("\n").every((line) => line.includes(" ::= "))).toBe(true);
});
