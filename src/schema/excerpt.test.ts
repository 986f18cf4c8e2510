import { describe, expect, test } from "bun:test";
import Type from "typebox";
import { excerptOf } from "./excerpt.ts";
import { checker } from "./index.ts";

const Part = Type.Union([
	Type.Object({ type: Type.Literal("text"), text: Type.String() }),
	Type.Object({ type: Type.Literal("image"), url: Type.String() }),
]);
const Message = Type.Union([
	Type.Object({ role: Type.Literal("user"), content: Type.Union([Type.String(), Type.Array(Part)]) }),
	Type.Object({
		role: Type.Literal("tool"),
		content: Type.Array(Type.Object({ type: Type.Literal("text"), text: Type.String() })),
	}),
]);
const Body = Type.Object({
	messages: Type.Array(Message),
	stop: Type.Optional(Type.Array(Type.String(), { maxItems: 4 })),
	input: Type.Optional(Type.Array(Type.String(), { maxItems: 2_048 })),
	metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
	closed: Type.Optional(Type.Object({}, { additionalProperties: false })),
});
const body = checker(Body);
const told = (value: unknown) => body.issues(value).map(({ path, message }) => `${path.join(".")}: ${message}`);
const MANY = 200_000;
const text = { type: "text", text: "a" };
/** Values and members of the excerpt, counted to the leaves. */
const sizeOf = (value: unknown): number =>
	typeof value === "object" && value !== null ? Object.values(value).reduce((sum: number, part) => sum + sizeOf(part), 1) : 1;

describe("of a long list the first element at fault is told, with its own place", () => {
	const listWith = (element: unknown, at: number) => Array.from({ length: MANY }, (_, index) => (index === at ? element : text));

	test("deep in a message", () => {
		const messages = [
			{ role: "user", content: "a" },
			{ role: "user", content: listWith({ type: "image" }, 123_456) },
		];
		expect(told({ messages })).toEqual(["messages.1.content.123456.url: is required"]);
	});

	test("in the branch of a union that is meant, where another would take it", () => {
		expect(told({ messages: [{ role: "tool", content: listWith({ type: "image", url: "a" }, 99_999) }] })).toEqual([
			"messages.0.content.99999.text: is required",
			'messages.0.content.99999.type: must be "text"',
		]);
	});

	test("where the list around it is long too", () => {
		const long = { role: "user", content: listWith(1, 77_777) };
		const messages = Array.from({ length: 5_000 }, (_, index) => (index === 4_321 ? long : { role: "user", content: "a" }));
		expect(told({ messages })).toEqual(["messages.4321.content.77777: must be object"]);
	});

	test("where all of them are", () => {
		const messages = [{ role: "user", content: Array(MANY).fill(1) }];
		expect(told({ messages })).toEqual(["messages.0.content.0: must be object"]);
	});
});

test("a list past its bound is told as such, however long it is", () => {
	expect(told({ messages: [], stop: Array(MANY).fill("a") })).toEqual(["stop: must not have more than 4 items"]);
	expect(told({ messages: [], input: Array(2_049).fill("a") })).toEqual(["input: must not have more than 2048 items"]);
});

test("objects of very many members are told by their faults", () => {
	const many = (value: unknown) => Object.fromEntries(Array.from({ length: MANY }, (_, index) => [`k${index}`, value]));
	expect(told({ messages: [], metadata: { ...many("a"), odd: 1 } })).toEqual(["metadata.odd: must be string"]);
	expect(told({ messages: [], closed: many(1) })[0]).toBe("closed.k0: Unrecognized key(s) in object: 'k0'");
});

test("what is looked at for faults is small, whatever the value is", () => {
	const values = [
		{ messages: Array(MANY).fill(1) },
		{ messages: Array.from({ length: 300 }, () => ({ role: "user", content: Array(300).fill(1) })) },
		{ messages: Array.from({ length: 300 }, () => ({ role: "user", content: Array(300).fill(text) })), stop: 1 },
		{ messages: [], metadata: Object.fromEntries(Array.from({ length: MANY }, (_, index) => [`k${index}`, index])) },
		{ messages: [], stop: Array(MANY).fill(Array(MANY).fill(1)) },
	];
	for (const value of values) expect(sizeOf(excerptOf(Body, value).value)).toBeLessThan(5_000);
});
