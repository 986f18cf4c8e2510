import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ApiError } from "../../errors/index.ts";
import { MAX_ITEMS, type RequestBody, readRequestBody } from "./request-body.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);

/** What was read, in texts. */
function read(body: string | Uint8Array): { method: string; params: string | null; id: string | null }[] {
	const { bytes, items } = readRequestBody(typeof body === "string" ? bytesOf(body) : body);
	const text = (range: { start: number; end: number } | null) => range && textOf(bytes.subarray(range.start, range.end));
	return items.map(({ method, params, id }) => ({ method, params: text(params), id: text(id) }));
}

function refusal(body: string | Uint8Array): ApiError {
	try {
		read(body);
	} catch (error) {
		if (error instanceof ApiError) return error;
		throw error;
	}
	throw new Error(`taken: ${typeof body === "string" ? body.slice(0, 200) : body.length}`);
}

const paths = (error: ApiError) => (error.options.issues ?? []).map((issue) => issue.path);

/** A text of JSON as somebody else might write it: any character escaped. */
const spelled = (text: string, escaped: readonly boolean[]): string =>
	`"${[...text].map((character, index) => (escaped[index % escaped.length] && character.length === 1 ? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}` : JSON.stringify(character).slice(1, -1))).join("")}"`;

const space = fc.constantFrom("", "", "", " ", "\n\t", "\r\n  ");
const spelling = fc.array(fc.boolean(), { minLength: 1, maxLength: 8 });
const anyJson = fc.json({ maxDepth: 3 });
const idText = fc.oneof(
	fc.constantFrom(
		"1",
		"0",
		"-1",
		"1.0",
		"1e400",
		"12345678901234567890123",
		"null",
		'"a"',
		'"\\u0061\\ud800"',
		'"é😀"',
		'""',
		"-0.0",
	),
	fc.json({ maxDepth: 0 }).filter((json) => json !== "true" && json !== "false"),
);
const member = fc.oneof(
	fc.tuple(
		fc.constant("method"),
		fc.string({ minLength: 1, maxLength: 20 }).map((text) => JSON.stringify(text)),
	),
	fc.tuple(
		fc.constant("params"),
		fc.oneof(
			fc.array(anyJson, { maxLength: 3 }).map((list) => `[${list.join(" , ")}]`),
			fc.constant("null"),
		),
	),
	fc.tuple(fc.constant("id"), idText),
	fc.tuple(fc.constant("jsonrpc"), fc.constantFrom('"2.0"', '"\\u0032.0"')),
	fc.tuple(
		fc.string({ maxLength: 6 }).filter((key) => !["method", "params", "id", "jsonrpc"].includes(key.toLowerCase())),
		anyJson,
	),
	fc.tuple(fc.constantFrom("methods", "_method", "__proto__", "constructor", "ids"), anyJson),
);
const written = fc.array(fc.tuple(member, spelling, space, space), { maxLength: 8 }).map((members) => ({
	members: members.map(([one]) => one),
	text: `{${members.map(([[key, value], how, a, b]) => `${a}${spelled(key, how)}${b}:${a}${value}${b}`).join(",")}}`,
}));

describe("an envelope", () => {
	test("of members in any order, spelling and spacing has the method, params and id that they say, or is refused for one that comes twice", () => {
		let taken = 0;
		fc.assert(
			fc.property(written, space, ({ members, text }, around) => {
				const body = around + text + around;
				const keys = members.map(([key]) => key);
				const of = (key: string) => members.find(([name]) => name === key)?.[1];
				if (new Set(keys).size < keys.length) {
					expect(paths(refusal(body)).some(([key]) => keys.indexOf(key as string) < keys.lastIndexOf(key as string))).toBe(true);
				} else if (of("method") === undefined) {
					expect(paths(refusal(body))).toEqual([["method"]]);
				} else {
					taken++;
					const params = of("params");
					expect(read(body)).toEqual([
						{
							method: JSON.parse(of("method") as string),
							params: params === undefined || params === "null" ? null : params,
							id: of("id") ?? null,
						},
					]);
				}
			}),
			{ numRuns: 3_000 },
		);
		expect(taken).toBeGreaterThan(100);
	});

	test("of any JSON, or of JSON with bytes changed, is read as the parser reads it or refused by an error of ours", () => {
		const one = { id: 7, jsonrpc: "2.0", method: "eth_call", params: [{ to: "0x00", data: "é\n" }, "latest"] };
		const seeds = [
			JSON.stringify(one),
			JSON.stringify([one, { ...one, id: "b" }, { method: "starknet_call", params: { a: [1] }, id: null }], null, 1),
		];
		const change = fc.record({ at: fc.nat(), cut: fc.nat({ max: 3 }), add: fc.uint8Array({ maxLength: 2 }) });
		const body = fc.oneof(
			anyJson.map(bytesOf),
			fc.uint8Array({ maxLength: 40 }),
			fc.tuple(fc.constantFrom(...seeds), fc.array(change, { maxLength: 3 })).map(([seed, changes]) =>
				changes.reduce((bytes, { at, cut, add }) => {
					const place = at % (bytes.length + 1);
					return Uint8Array.from([...bytes.subarray(0, place), ...add, ...bytes.subarray(place + cut)]);
				}, bytesOf(seed)),
			),
			fc
				.tuple(fc.constantFrom(...seeds), fc.nat(), fc.constantFrom('"', ",", "{", "}", "[", "]", ":", "0", "\\", "null"))
				.map(([seed, at, add]) => bytesOf(seed.slice(0, at % seed.length) + add + seed.slice((at % seed.length) + 1))),
		);
		let taken = 0;
		fc.assert(
			fc.property(body, (bytes) => {
				let items: ReturnType<typeof read>;
				try {
					items = read(bytes);
				} catch (error) {
					expect(error).toBeInstanceOf(ApiError);
					return;
				}
				taken++;
				const parsed = JSON.parse(textOf(bytes).replace(/^\ufeff/, ""));
				const list = Array.isArray(parsed) ? parsed : [parsed];
				expect(items.map(({ method }) => method)).toEqual(list.map(({ method }) => method));
				expect(items.map(({ params }) => JSON.parse(params ?? "[]"))).toEqual(list.map(({ params }) => params ?? []));
				expect(items.map(({ id }) => JSON.parse(id ?? "null"))).toEqual(list.map(({ id }) => id ?? null));
			}),
			{ numRuns: 20_000 },
		);
		expect(taken).toBeGreaterThan(100);
	});

	test("keeps ids and params byte for byte", () => {
		const body =
			'\n [ {"method":"a","id": 12345678901234567890.10e+2 ,"params": [ 1.0 , "\\u0041" ]} , {"id":"\\u0061","method":"b"} ] ';
		expect(read(body)).toEqual([
			{ method: "a", id: "12345678901234567890.10e+2", params: '[ 1.0 , "\\u0041" ]' },
			{ method: "b", id: '"\\u0061"', params: null },
		]);
	});

	test("takes a byte order mark and white space around, and nothing else", () => {
		expect(read('\ufeff \r\n\t{"method":"a"}\n')).toHaveLength(1);
		for (const body of [
			'{"method":"a"}x',
			'{"method":"a"}{}',
			'{"method":"a"},',
			'[{"method":"a","id":1}]]',
			'x{"method":"a"}',
			'\u00a0{"method":"a"}',
			'{"method":"a"}\u0000',
		])
			expect(refusal(body).code).toBe("INVALID_REQUEST");
	});

	test("refuses what is no JSON, and says where", () => {
		expect(refusal("").message).toBe("The body is empty");
		expect(refusal(" \n").message).toBe("The body is empty");
		expect(refusal('{"method":"a",}').message).toContain("at byte 14");
		for (const cut of ["{", '{"method', '{"method":', '{"method":"a"', '{"method":"a","id":-', "[", '[{"method":"a"},'])
			expect(refusal(cut).message).toBe("The body is not valid JSON: it breaks off");
		expect(refusal('{"method":"a","params":[01]}').message).toContain("at byte 25");
		expect(refusal(Uint8Array.from([...bytesOf('{"method":"a'), 0xc3, ...bytesOf('"}')])).message).toContain("UTF-8");
	});

	test("refuses what is neither a request nor an array of them", () => {
		for (const body of ["null", "1", '"a"', "true"]) expect(refusal(body).message).toContain("JSON-RPC");
		expect(paths(refusal('[{"method":"a","id":1},[],3]'))).toEqual([[1], [2]]);
	});

	test("refuses a batch that is empty, has too many items, or items without an id", () => {
		expect(refusal(" [ ] ")).toMatchObject({ code: "RPC_BATCH_INVALID", message: "Batch is empty" });
		const batch = (count: number) => JSON.stringify(Array.from({ length: count }, (_, id) => ({ id, method: "a" })));
		expect(read(batch(MAX_ITEMS))).toHaveLength(MAX_ITEMS);
		expect(refusal(batch(MAX_ITEMS + 1))).toMatchObject({ code: "RPC_BATCH_INVALID", message: "Batch exceeds 100 items" });
		expect(refusal(`[${"[],".repeat(1_000_000)}[]]`).message).toBe("Batch exceeds 100 items");
		const missing = refusal('[{"method":"a","id":null},{"method":"b"}]');
		expect(missing).toMatchObject({ code: "RPC_BATCH_INVALID", message: "[1].id: is required in a batch" });
		expect(refusal('[{"method":"a"},{"id":1}]').code).toBe("INVALID_REQUEST");
	});

	test("tells every fault of every item with its path", () => {
		const error = refusal(
			'[{"id":[],"method":5},{"id":true,"jsonrpc":"1.0","params":{},"method":"eth_call"},{"id":1,"params":"a"}]',
		);
		expect(error.message).toBe("[0].id: must be string or number or null");
		expect(error.options.param).toBe("[0].id");
		expect(paths(error)).toEqual([
			[0, "id"],
			[0, "method"],
			[1, "id"],
			[1, "jsonrpc"],
			[1, "params"],
			[2, "params"],
			[2, "method"],
		]);
		expect(paths(refusal('{"id":{},"method":"a","jsonrpc":null}'))).toEqual([["id"], ["jsonrpc"]]);
	});

	test("takes parameters by name of the machine whose protocol has them", () => {
		expect(read('{"params":{"block_id":"latest"},"method":"starknet_call"}')[0]?.params).toBe('{"block_id":"latest"}');
		expect(paths(refusal('{"params":{},"method":"eth_call"}'))).toEqual([["params"]]);
	});

	test("refuses a key that comes twice in whatever spelling, among the item's own members only", () => {
		for (const twin of ['"method"', '"\\u006dethod"', '"metho\\u0064"', '"m\\u0065\\u0074hod"'])
			expect(paths(refusal(`{"method":"eth_call",${twin}:"eth_sign"}`))).toEqual([["method"]]);
		expect(paths(refusal('{"method":"a","x":1,"\\u0078":2}'))).toEqual([["x"]]);
		expect(paths(refusal('{"method":"a","\\u0069d":1,"id":1}'))).toEqual([["id"]]);
		expect(read('{"method":"a","params":[{"x":1,"x":2}],"p":{"method":1,"method":2}}')).toHaveLength(1);
		const many = Array.from({ length: 40 }, (_, index) => `"k${index}":0`).join(",");
		expect(paths(refusal(`{"method":"a",${many},"k\\u0037":0}`))).toEqual([["k7"]]);
	});

	test("refuses a key that some node reads as one that counts", () => {
		for (const name of ["Method", "METHOD", "PARAMS", "param\u017f", "Id", "ID", "JsonRpc", "method\\u0000", "\\u004dethod"])
			expect(paths(refusal(`{"method":"eth_call","id":1,"${name}":"eth_sign"}`))).toEqual([[JSON.parse(`"${name}"`)]]);
		expect(paths(refusal('[{"id":1,"method":"a"},{"id":2,"method":"a","Method":"b"}]'))).toEqual([[1, "Method"]]);
		expect(paths(refusal(`{"method":"a","method\\u0000${"x".repeat(1_000_000)}":1}`))[0]?.[0]).toHaveLength(64);
	});

	test("refuses names and members past their bounds", () => {
		expect(paths(refusal(`{"method":"${"a".repeat(129)}"}`))).toEqual([["method"]]);
		expect(paths(refusal(`{"method":"${"a".repeat(3_000_000)}"}`))).toEqual([["method"]]);
		expect(read(`{"method":"${"\\u0061".repeat(128)}"}`)[0]?.method).toBe("a".repeat(128));
		expect(paths(refusal('{"method":""}'))).toEqual([["method"]]);
		const members = Array.from({ length: 2_000 }, (_, index) => `"k${index}":0`).join(",");
		expect(refusal(`{"method":"a",${members}}`).message).toContain("more than 1000 members");
		expect(refusal(`{"method":"a","params":${"[".repeat(600)}${"]".repeat(600)}}`).message).toContain("levels deep");
		expect(refusal("[".repeat(5_000_000)).message).toContain("levels deep");
	});

	test("reads numbers past any precision and surrogates without a pair as they stand", () => {
		expect(read('{"method":"\\ud800","id":1e99999,"params":[123456789012345678901234567890,"\\udfff"]}')).toEqual([
			{ method: "\ud800", id: "1e99999", params: '[123456789012345678901234567890,"\\udfff"]' },
		]);
	});

	test("of 5 MB is read whole", () => {
		const data = `0x${"ab".repeat(2_400_000)}`;
		const envelope: RequestBody = readRequestBody(
			bytesOf(JSON.stringify({ method: "eth_sendRawTransaction", params: [data], id: 1 })),
		);
		expect(envelope.items[0]?.params).toMatchObject({ end: expect.any(Number) });
	});
});
