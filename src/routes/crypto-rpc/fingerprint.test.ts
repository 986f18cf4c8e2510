import { expect, test } from "bun:test";
import fc from "fast-check";
import { bodyFingerprint } from "./fingerprint.ts";

const of = (body: string, network = "base-mainnet") => bodyFingerprint(network, Buffer.from(body));

/** The same value, written otherwise: members in another order, other white space, all characters escaped. */
function rewritten(value: unknown, space: string): string {
	const escaped = (text: string) =>
		`"${[...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")}"`;
	if (typeof value === "string") return escaped(value);
	if (typeof value === "number")
		return Number.isInteger(value) && Math.abs(value) < 1e15 ? `${value}.00e0` : value.toExponential();
	if (Array.isArray(value)) return `[${value.map((item) => space + rewritten(item, space)).join(`${space},`)}${space}]`;
	if (typeof value === "object" && value !== null)
		return `{${Object.entries(value)
			.toReversed()
			.map(([key, item]) => `${space}${escaped(key)}${space}:${rewritten(item, space)}`)
			.join(`${space},`)}${space}}`;
	return String(value);
}

test("a body that is serialised anew has the same fingerprint", () => {
	fc.assert(
		fc.property(fc.jsonValue(), fc.constantFrom("", " ", "\n\t"), (value, space) => {
			const body = JSON.stringify(value);
			expect(of(`\ufeff ${rewritten(JSON.parse(body), space)} `)).toBe(of(body));
		}),
		{ numRuns: 2_000 },
	);
});

test("bodies of other values have other fingerprints", () => {
	fc.assert(
		fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
			const [one, other] = [JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b))];
			expect(of(JSON.stringify(a)) === of(JSON.stringify(b))).toBe(Bun.deepEquals(one, other));
		}),
		{ numRuns: 5_000 },
	);
	const bodies = [
		...[
			"[]",
			"{}",
			"[[]]",
			"[{}]",
			"[1]",
			"[12]",
			"[1,2]",
			'["1"]',
			'["1,2"]',
			'{"a":1}',
			'{"a":"1"}',
			'{"a":1,"a":2}',
			'{"a":2}',
			"null",
			'"null"',
		],
		...[
			"12345678901234567890",
			"12345678901234567891",
			"1e400",
			"1e401",
			"1e9999999999999999",
			"0.1",
			"0.10000000000000000001",
			"-1",
			"1",
		],
		...['"\\ud800"', '"\\ud801"', '"\\\\ud800"', '"é"', '"Ã©"'],
	];
	expect(new Set(bodies.map((body) => of(body))).size).toBe(bodies.length);
});

test("numbers of one value are one, at any size", () => {
	for (const same of [
		["0", "-0", "0.000", "0e7", "-0.0e-5"],
		["100", "1e2", "1E+2", "100.000", "0.1e3"],
		["-12345678901234567890123", "-1234567890123456789012.3e1", "-12345678901234567890123.0"],
		["1.5", "15e-1", "0.015e+2"],
		["1e30", "1000000000000000000000000000000"],
	])
		expect(new Set(same.map((text) => of(`[${text}]`))).size).toBe(1);
});

test("the same body to another network is another", () => {
	expect(of("{}", "base-mainnet")).not.toBe(of("{}", "base-sepolia"));
	expect(of("[1]")).toBe(new Bun.CryptoHasher("sha256").update("base-mainnet\n[1]").digest("hex"));
});

test("bodies of 5 MB are done in bounded time and depth", () => {
	const keys = Array.from({ length: 200_000 }, (_, index) => `"${index.toString(36)}":"\\u0041"`).toReversed();
	for (const body of [
		`[${"[],".repeat(1_600_000)}[]]`,
		`[${'"ab",'.repeat(900_000)}"\\n"]`,
		`{${keys.join(",")}}`,
		`[${"1.0,".repeat(500_000)}1]`,
		`[1${"0".repeat(3_000_000)},0.${"0".repeat(2_000_000)}]`,
		`${"[".repeat(500)}${"]".repeat(500)}`,
		`"${"\\n".repeat(2_400_000)}"`,
	])
		expect(of(body)).toHaveLength(64);
});
