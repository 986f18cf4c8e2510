import { expect, test } from "bun:test";
import fc from "fast-check";
import { readMessage, type SignInMessage, writeMessage } from "./sign-in-message.ts";
import { createWallet, message } from "./testing/sign-ins.ts";

const ADDRESS = createWallet().address;
const TEXT = writeMessage(message(ADDRESS));
const lines = TEXT.split("\n");

const line = fc.string({ minLength: 1, unit: "binary" }).filter((text) => text.isWellFormed() && !/\p{Cc}/u.test(text));
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const anyMessage: fc.Arbitrary<SignInMessage> = fc.record({
	domain: fc.stringMatching(/^[!-~]{1,40}$/),
	account: fc.constantFrom("Ethereum", "Solana"),
	address: line,
	statement: optional(line),
	emptyLines: fc.constant(1 as const),
	uri: line,
	version: line,
	chainId: line,
	nonce: line,
	issuedAt: line,
	expirationTime: optional(line),
	notBefore: optional(line),
	requestId: optional(line),
	resources: optional(fc.array(line, { maxLength: 4 })),
});

test("what is written is read as it was, whatever stands in its fields", () => {
	fc.assert(
		fc.property(anyMessage, (written) => {
			expect(readMessage(writeMessage(written))).toEqual(written);
		}),
	);
});

test("a message without a statement has one empty line in its place, or two", () => {
	for (const emptyLines of [1, 2] as const) {
		const without = message(ADDRESS, { statement: null, emptyLines });
		expect(readMessage(writeMessage(without))).toEqual(without);
	}
	expect(readMessage(writeMessage(message(ADDRESS, { statement: null, emptyLines: 1 })).replace("\n\n", "\n\n\n\n"))).toBeNull();
});

test("a statement that looks like a field is a statement", () => {
	const odd = message(ADDRESS, { statement: "URI: https://evil.example.test" });
	expect(readMessage(writeMessage(odd))).toEqual(odd);
});

test("no line may be missing, twice, in another place, or more than it should be", () => {
	const fields = lines.slice(5);
	const broken = [
		...lines.map((_, index) => lines.filter((__, other) => other !== index && index !== 9)),
		...fields.map((field) => [...lines, field]),
		...fields.slice(1).map((_, index) => [...lines.slice(0, 5), ...swapped(fields, index)]),
		[...lines, ""],
		["", ...lines],
		[...lines, "Resources:", "no item"],
		[...lines, "Resources:", "- a", "Request ID: 1"],
		[...lines, "Not Before: x", "Expiration Time: y"],
	].map((text) => text.join("\n"));
	const texts = new Set(broken.filter((text) => text !== TEXT && readMessage(text) !== null));
	// All that may be left out: the statement, and the end.
	expect([...texts]).toEqual([3, lines.length - 1].map((left) => lines.filter((_, index) => index !== left).join("\n")));
});

test("other line ends, control characters and halves of characters are refused", () => {
	expect(readMessage(TEXT)).not.toBeNull();
	for (const text of [
		TEXT.replaceAll("\n", "\r\n"),
		TEXT.replace("Sign", "Si\u0000gn"),
		TEXT.replace("Sign", "\tSign"),
		TEXT.replace("Sign", "\u0085Sign"),
		TEXT.replace("Sign", "\ud800Sign"),
		TEXT.replace("URI: ", "URI:"),
		TEXT.replace("Version", "version"),
		TEXT.replace("wants you", "wants  you"),
		TEXT.replace("Ethereum", "Bitcoin"),
		"",
		"\n",
	])
		expect(readMessage(text)).toBeNull();
});

function swapped(fields: readonly string[], index: number): string[] {
	const next = [...fields];
	next[index] = fields[index + 1] ?? "";
	next[index + 1] = fields[index] ?? "";
	return next;
}
