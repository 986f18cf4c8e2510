import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { base64String } from "./base64-string.ts";
import { atOnce } from "./in-turns.ts";
import { BODY_BOUNDS, cutJson } from "./json-cut.ts";
import { LongStrings } from "./long-strings.ts";

const bytes = randomBytes(600_000);
const text = bytes.toString("base64");

/** The bytes of `image` in a body, as they are found in its cut copy. */
function read(body: string): Promise<Uint8Array | null> {
	const raw = new TextEncoder().encode(body);
	const { json, cuts } = atOnce(cutJson(raw, BODY_BOUNDS, { longerThan: 1_000, keep: 100 }));
	const { image } = JSON.parse(new TextDecoder().decode(json)) as { image: string };
	return base64String(image, new LongStrings(raw, cuts));
}

test("base64 and data URLs of a string that was cut", async () => {
	for (const value of [
		text,
		`data:image/png;base64,${text}`,
		`DATA:image/jpeg;name=a.jpg;BASE64,${text}`,
		`data:;base64,${text}`,
	]) {
		const plain = JSON.stringify({ image: value });
		expect(bytes.equals((await read(plain)) ?? new Uint8Array(1))).toBe(true);
		expect(bytes.equals((await read(plain.replaceAll("/", "\\/"))) ?? new Uint8Array(1))).toBe(true);
	}
});

test("and of one that was not", async () => {
	expect(await base64String("aGVsbG8=", LongStrings.none)).toEqual(Buffer.from("hello"));
	expect(await base64String("data:text/plain;base64,aGVsbG8", LongStrings.none)).toEqual(Buffer.from("hello"));
});

test.each(["data:image/png,abcd", "data:image/svg+xml;utf8,<svg/>", "data:base64", "a b!", "/home/me/a.png"])(
	"%s is refused",
	async (value) => expect(await base64String(value, LongStrings.none)).toBeNull(),
);
