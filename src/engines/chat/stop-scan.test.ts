import { expect, test } from "bun:test";
import fc from "fast-check";
import { StopScanner } from "./stop-scan.ts";
import { TokenText } from "./token-text.ts";

function scan(pieces: readonly string[], stops: readonly string[]): { text: string; stopped: boolean } {
	const scanner = new StopScanner(stops);
	let text = "";
	for (const piece of pieces) {
		const scanned = scanner.push(piece);
		text += scanned.text;
		if (scanned.stopped) return { text, stopped: true };
	}
	return { text: text + scanner.end(), stopped: false };
}

test("a stop string is found however the text is cut, and nothing of it goes out", () => {
	const piece = fc.stringMatching(/^[ab]{0,4}$/);
	fc.assert(
		fc.property(
			fc.array(piece, { maxLength: 12 }),
			fc.array(fc.stringMatching(/^[ab]{1,4}$/), { maxLength: 4 }),
			(pieces, stops) => {
				const whole = pieces.join("");
				const { text, stopped } = scan(pieces, stops);
				// Where the text is cut decides which of two overlapping stop strings is seen first; both are right.
				expect(whole.startsWith(text)).toBe(true);
				expect(stopped).toBe(stops.some((stop) => whole.includes(stop)));
				if (!stopped) expect(text).toBe(whole);
				else expect(stops.some((stop) => whole.startsWith(stop, text.length))).toBe(true);
				for (const stop of stops) expect(text.includes(stop)).toBe(false);
			},
		),
	);
});

test("text that only looks like the beginning of a stop string goes out in the end", () => {
	expect(scan(["Hello", " <", "/", "b"], ["</a>"])).toEqual({ text: "Hello </b", stopped: false });
	expect(scan(["Hello </"], ["</a>"])).toEqual({ text: "Hello </", stopped: false });
});

test("an empty stop string stops nothing", () => {
	expect(scan(["abc"], [""])).toEqual({ text: "abc", stopped: false });
});

test("no half character goes out, and none is lost", () => {
	const decode = (bytes: number[]): string => new TextDecoder().decode(new Uint8Array(bytes));
	fc.assert(
		fc.property(fc.string({ unit: "grapheme" }), (original) => {
			const text = new TokenText<number>(decode);
			const pieces = [...new TextEncoder().encode(original)].map((byte) => text.push(byte));
			for (const piece of pieces) expect(piece.includes("\uFFFD")).toBe(original.includes("\uFFFD") && piece.includes("\uFFFD"));
			expect(pieces.join("") + text.end()).toBe(decode([...new TextEncoder().encode(original)]));
		}),
	);
	const cut = new TokenText<number>(decode);
	expect(cut.push(0xf0)).toBe("");
	expect(cut.push(0x9f)).toBe("");
	expect(cut.end()).toBe("\uFFFD");
});
