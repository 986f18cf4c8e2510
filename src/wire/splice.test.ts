import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Insertion, Splice } from "./splice.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const OLD = "0123456789abcdefghij";
const source = bytesOf(OLD);

/** A splice and the text that it must make. */
interface Inserted {
	readonly part: Insertion;
	readonly text: string;
}

const inserted = fc.oneof(
	fc.string({ unit: "binary", maxLength: 5 }).map((text): Inserted => ({ part: text, text })),
	fc.string({ unit: "grapheme", maxLength: 5 }).map((text): Inserted => ({ part: bytesOf(text), text })),
);
const kept = fc.tuple(fc.nat({ max: 20 }), fc.nat({ max: 20 })).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
const { splice } = fc.letrec<{ splice: Inserted }>((tie) => ({
	splice: fc.array(fc.oneof({ maxDepth: 3 }, kept, inserted, tie("splice")), { maxLength: 6 }).map((steps): Inserted => {
		const part = new Splice(source);
		let text = "";
		for (const step of steps) {
			if ("part" in step) {
				part.insert(step.part);
				text += step.text;
			} else {
				part.keep(step[0], step[1]);
				text += OLD.slice(step[0], step[1]);
			}
		}
		return { part, text };
	}),
}));

describe("a splice", () => {
	test("is the runs and what was put between them, in order, however deeply nested", () => {
		fc.assert(
			fc.property(splice, ({ part, text }) => {
				const whole = bytesOf(text);
				expect((part as Splice).byteLength).toBe(whole.length);
				expect(new Uint8Array((part as Splice).bytes())).toEqual(whole);
				const pieces = [...(part as Splice).pieces(3)];
				expect(new Uint8Array(Buffer.concat(pieces))).toEqual(whole);
				for (const piece of pieces) expect(piece.length).toBeWithin(1, 4);
			}),
			{ numRuns: 1000 },
		);
	});

	test("of nothing is empty, can be joined twice, and goes on after it was", () => {
		const part = new Splice(source);
		expect(part.bytes().length).toBe(0);
		part.keep(0, 3);
		expect(String(part.bytes())).toBe("012");
		part.keep(3, 5);
		part.insert("-");
		part.keep(5, 6);
		expect([String(part.bytes()), String(part.bytes())]).toEqual(["01234-5", "01234-5"]);
	});
});
