import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Schema from "typebox/schema";
import { answerOf, ask, refusalOf, TestEngine, textOf } from "./testing/engine.ts";

const running = new TestEngine();
const post = running.post.bind(running);
beforeAll(() => running.start());
afterAll(() => running.engine.stop());

describe("an answer in a format", () => {
	const schema = {
		type: "object",
		properties: {
			city: { type: "string" },
			population: { type: "integer" },
			tags: { type: "array", items: { type: "string", maxLength: 12 }, maxItems: 2 },
		},
		required: ["city", "population", "tags"],
		additionalProperties: false,
	};
	const messages = ask("Describe Paris as JSON with city, population and tags.");

	test.each([
		["wrapped", { name: "city", strict: true, schema }],
		["bare", schema],
	])("keeps to a schema, %s", async (_, json_schema) => {
		const answer = await answerOf(
			post({ messages, temperature: 0, max_tokens: 200, response_format: { type: "json_schema", json_schema } }),
		);
		const value = JSON.parse(textOf(answer));
		expect(Object.keys(value)).toEqual(["city", "population", "tags"]);
		expect(typeof value.city).toBe("string");
		expect(Number.isInteger(value.population)).toBe(true);
		expect(value.tags.length).toBeLessThanOrEqual(2);
		expect(answer.choices[0]?.finish_reason).toBe("stop");
	});

	test("is a JSON object where that is all that is asked for", async () => {
		const answer = await answerOf(post({ messages, temperature: 0, max_tokens: 80, response_format: { type: "json_object" } }));
		if (answer.choices[0]?.finish_reason === "stop") expect(JSON.parse(textOf(answer))).toBeObject();
		expect(textOf(answer)).toStartWith("{");
	});

	test.each([
		[{ type: "object", properties: { a: { type: "integer" }, b: { type: "boolean" } }, required: ["b"] }],
		[
			{
				type: "object",
				properties: { a: { type: "string", maxLength: 5 }, b: { type: "null" }, c: { enum: ["x", 1, null, { k: [1] }] } },
			},
		],
		[{ type: "array", items: { type: "number" }, minItems: 2, maxItems: 3 }],
		[{ type: "object", additionalProperties: { type: "integer" } }],
		[
			{
				anyOf: [
					{ type: "integer" },
					{ type: "object", properties: { when: { type: "string", format: "date-time" } }, required: ["when"] },
				],
			},
		],
		[
			{
				allOf: [
					{ type: "object", properties: { a: { type: "integer" } }, required: ["a"] },
					{ properties: { b: { type: ["string", "null"], maxLength: 8 } }, required: ["b"] },
				],
			},
		],
		[
			{
				$ref: "#/$defs/node",
				$defs: {
					node: {
						type: "object",
						properties: { value: { type: "integer" }, next: { anyOf: [{ type: "null" }, { $ref: "#/$defs/node" }] } },
						required: ["value", "next"],
					},
				},
			},
		],
		[{ const: { fixed: ['"\\', "é\n"] } }],
		[{ type: "object", properties: {} }],
		[{}],
	])("keeps to %j", async (json_schema) => {
		const format = { type: "json_schema", json_schema: { name: "x", schema: json_schema } };
		for (const seed of [1, 2]) {
			const answer = await answerOf(
				post({ messages: ask("Give an example as JSON."), seed, temperature: 1.2, max_tokens: 80, response_format: format }),
			);
			// Only an answer that was cut off may be less than the schema asks for.
			if (answer.choices[0]?.finish_reason !== "stop") continue;
			const value: unknown = JSON.parse(textOf(answer));
			expect(Schema.Check(json_schema, value), textOf(answer)).toBe(true);
		}
	});

	test("is a 400 where the grammar would never get anywhere", async () => {
		for (const json_schema of [
			{ $ref: "#/a", a: { $ref: "#/b" }, b: { $ref: "#/a" } },
			{ anyOf: [{ $ref: "#" }, { type: "string" }] },
		]) {
			const response = await post({ messages, response_format: { type: "json_schema", json_schema } });
			expect(response.status).toBe(400);
			expect((await refusalOf(response)).error.message).toContain("response_format");
		}
		expect((await post({ messages: ask("Hi"), max_tokens: 1 })).status).toBe(200);
	});

	test("is a 400 where the schema cannot be kept", async () => {
		const response = await post({
			messages,
			response_format: { type: "json_schema", json_schema: { not: { type: "string" } } },
		});
		expect(response.status).toBe(400);
		expect((await refusalOf(response)).error.message).toContain("not");
	});
});
