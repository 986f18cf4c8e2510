import { expect, test } from "bun:test";
import fc from "fast-check";
import { answerOf } from "./exchange.ts";
import { RpcFault } from "./faults.ts";

const ID = 7;
const space = fc.stringMatching(/^[ \n\r\t]{0,3}$/);
const json = fc.json({ maxDepth: 4 });
const name = fc.string({ maxLength: 8 }).filter((text) => !["id", "result", "error"].includes(text));

const NO_JSON = [
	...['{"a":tru}', "[1,]", "[,1]", '{"a"}', '{"a":1,}', "{1:2}", "[1 2]", "[01]", "[0x1]", "[NaN]", "[undefined]"],
	...['"a\nb"', '"a\u0000b"', '["\\x"]', '"\\u12"'],
];
/** Latin-1: the third is no UTF-8. */
const ODD_JSON = [
	...['{"a":1,"a":2}', '{"__proto__":[]}', '"\xff\xfe"', '"\\ud800"', '"\\u0000"', "1e999", "-0"],
	"[".repeat(10_000) + "]".repeat(10_000),
];

/** A response with its members in any order, others among them, and white space anywhere. */
const response = fc
	.record({
		value: json,
		isError: fc.boolean(),
		others: fc.array(fc.tuple(name, json), { maxLength: 3 }),
		spaces: fc.infiniteStream(space),
		seed: fc.nat(),
	})
	.map(({ value, isError, others, spaces, seed }) => {
		const result = isError ? `{"code":3,"message":"m","data":${value}}` : value;
		const members = [
			['"jsonrpc"', '"2.0"'],
			['"id"', String(ID)],
			[isError ? '"error"' : '"result"', result],
			...others.map(([key, other]) => [JSON.stringify(key), other]),
		];
		const order = members.map((member, index) => ({ member, at: (index * 7_919 + seed) % 101 })).sort((a, b) => a.at - b.at);
		const gap = () => spaces.next().value as string;
		const texts = order.map(({ member: [key, text] }) => `${gap()}${key}${gap()}:${gap()}${text}${gap()}`);
		return { text: `${gap()}{${texts.join(",")}}${gap()}`, result, isError };
	});

test("the value of any good response is found, byte for byte", () => {
	fc.assert(
		fc.property(response, ({ text, result, isError }) => {
			const outcome = answerOf(Buffer.from(text), ID, 200);
			expect(outcome.kind).toBe(isError ? "error" : "result");
			expect(Buffer.from(outcome.value).toString()).toBe(result);
		}),
		{ numRuns: 500 },
	);
});

test("a value is checked inside of its brackets and quotes, and passes byte for byte", () => {
	const answer = (value: string, member = "result") =>
		answerOf(Buffer.from(`{"id":${ID},"${member}":${value}}`, "latin1"), ID, 200);
	for (const spoilt of NO_JSON) {
		expect(() => answer(spoilt)).toThrow("not JSON");
		expect(() => answer(`{"code":3,"message":"m","data":${spoilt}}`, "error")).toThrow("not JSON");
	}
	for (const odd of ODD_JSON) expect(Buffer.from(answer(odd).value).toString("latin1")).toBe(odd);
});

test("a response of more members than any server adds is a fault", () => {
	const answer = (more: number) => answerOf(Buffer.from(`{"id":${ID},${'"a":1,'.repeat(more)}"result":1}`), ID, 200);
	expect(answer(900).kind).toBe("result");
	expect(() => answer(1_100)).toThrow("too many members");
});

test("a response that is cut off anywhere, or spoilt in one byte, is a fault or says the same kind of thing", () => {
	fc.assert(
		fc.property(response, fc.nat(), fc.nat({ max: 255 }), ({ text }, at, byte) => {
			const bytes = Buffer.from(text.trimEnd());
			expect(() => answerOf(bytes.subarray(0, at % bytes.length), ID, 200)).toThrow(RpcFault);
			bytes[at % bytes.length] = byte;
			try {
				expect(answerOf(bytes, ID, 200).kind).toBeOneOf(["result", "error"]);
			} catch (error) {
				expect(error).toBeInstanceOf(RpcFault);
			}
		}),
		{ numRuns: 1_000 },
	);
});
