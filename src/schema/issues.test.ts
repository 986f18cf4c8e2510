import { expect, test } from "bun:test";
import Type from "typebox";
import { checker, detailsOf, invalidRequest } from "./index.ts";
import { patternedText } from "./patterned-text.ts";

const Part = Type.Union([
	Type.Object({ type: Type.Literal("text"), text: Type.String() }),
	Type.Object({ type: Type.Literal("image_url"), image_url: Type.Object({ url: Type.String() }) }),
]);
const Message = Type.Union([
	Type.Object({ role: Type.Literal("user"), content: Type.Union([Type.String(), Type.Array(Part, { minItems: 1 })]) }),
	Type.Object({ role: Type.Literal("tool"), content: Type.String(), tool_call_id: Type.String() }),
]);
const body = checker(
	Type.Object({
		messages: Type.Array(Message, { minItems: 1 }),
		temperature: Type.Optional(Type.Number({ maximum: 2 })),
		stop: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 4 })])),
		mode: Type.Optional(Type.Enum(["on", "off"])),
	}),
);
const told = (value: unknown) => body.issues(value).map((issue) => `${issue.path.join(".")}: ${issue.message}`);

test("names a missing field, a bound and an enum", () => {
	expect(told({})).toEqual(["messages: is required"]);
	expect(told({ messages: [{ role: "user", content: "a" }], temperature: 3 })).toEqual(["temperature: must be <= 2"]);
	expect(told({ messages: [{ role: "user", content: "a" }], mode: "auto" })).toEqual(["mode: must be one of on, off"]);
});

test("an issue of length or range has its limit", () => {
	const limited = checker(
		Type.Object({
			prompt: Type.String({ minLength: 1 }),
			steps: Type.Integer({ exclusiveMaximum: 50 }),
			tags: Type.Array(Type.String(), { maxItems: 1 }),
			scale: Type.Number({ minimum: 0.5 }),
		}),
	);
	const issues = limited.issues({ prompt: "", steps: 50, tags: ["a", "b"], scale: 0 });
	expect(issues.map(({ message: _, ...issue }) => issue)).toEqual([
		{ path: ["prompt"], code: "too_small", minimum: 1, type: "string", inclusive: true },
		{ path: ["steps"], code: "too_big", maximum: 50, type: "number", inclusive: false },
		{ path: ["tags"], code: "too_big", maximum: 1, type: "array", inclusive: true },
		{ path: ["scale"], code: "too_small", minimum: 0.5, type: "number", inclusive: true },
	]);
});

test("tells of a union only the branch that was meant", () => {
	expect(told({ messages: [{ role: "tool", content: "x" }] })).toEqual(["messages.0.tool_call_id: is required"]);
	expect(told({ messages: [{ role: "user", content: [{ type: "text" }] }] })).toEqual(["messages.0.content.0.text: is required"]);
	expect(told({ messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: 4 } }] }] })).toEqual([
		"messages.0.content.0.image_url.url: must be string",
	]);
});

test("lists the discriminators where none fits, and the types where none fits", () => {
	expect(told({ messages: [{ role: "robot", content: "x" }] })).toEqual(["messages.0.role: must be one of user, tool"]);
	expect(told({ messages: [{ role: "user", content: [{ type: "smell" }] }] })).toEqual([
		"messages.0.content.0.type: must be one of text, image_url",
	]);
	expect(told({ messages: [{ role: "user", content: 3 }] })).toEqual(["messages.0.content: must be string or array"]);
	expect(told({ messages: [{ role: "user", content: "a" }], stop: ["1", "2", "3", "4", "5"] })).toEqual([
		"stop: must not have more than 4 items",
	]);
});

test("a thousand faults give at most twenty issues", () => {
	expect(told({ messages: Array(1000).fill({ role: "user", content: [{ type: "text" }] }) }).length).toBeLessThanOrEqual(20);
});

test("details nest by field, also under names that objects have by themselves", () => {
	const details = detailsOf([
		{ path: ["a", 0, "b"], code: "x", message: "no" },
		{ path: ["__proto__"], code: "x", message: "odd" },
		{ path: [], code: "x", message: "top" },
	]);
	expect(JSON.parse(JSON.stringify(details.a))).toEqual({ _errors: [], 0: { _errors: [], b: { _errors: ["no"] } } });
	expect(details._errors).toEqual(["top"]);
	expect(JSON.stringify(details)).toContain('"__proto__"');
});

test("a text with a rule, or null, is told by the rule where the value is neither", () => {
	const time = checker(Type.Object({ until: Type.Union([patternedText("^[0-9]+s$", "must be seconds like 30s"), Type.Null()]) }));
	for (const until of [30, true, [], {}])
		expect(time.issues({ until })).toEqual([{ path: ["until"], code: "type", message: "must be seconds like 30s, as text" }]);
	expect(time.issues({ until: "30" })[0]?.message).toBe("must be seconds like 30s");
});

test("the error names the first field in its text and its param", () => {
	const error = invalidRequest(body.issues({ messages: [{ role: "user", content: [{ type: "text" }] }] }));
	expect(error.message).toBe("messages[0].content[0].text: is required");
	expect(error.options.param).toBe("messages[0].content[0].text");
});

test("an object of very many unknown keys is told by its first ones", () => {
	const closed = checker(Type.Object({ a: Type.Optional(Type.Object({}, { additionalProperties: false })) }));
	const issues = closed.issues({ a: Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, 1])) });
	expect(issues.length).toBeLessThanOrEqual(20);
	expect(issues[0]).toEqual({ path: ["a", "k0"], code: "unrecognized_key", message: "Unrecognized key(s) in object: 'k0'" });
});
