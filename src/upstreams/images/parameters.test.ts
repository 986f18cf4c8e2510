import { expect, test } from "bun:test";
import { fillParameters, namedPictures } from "./parameters.ts";

const VALUES = { seed: 7, prompt: 'a {seed} of "it"', images: ["one", "two"], factor: undefined };

test("a text that is one name becomes its value, of the value's own type; others have it written in", () => {
	expect(fillParameters({ a: "{seed}", b: "x{seed}", c: "{images}", d: true, e: 3, f: "plain" }, VALUES)).toEqual({
		a: 7,
		b: "x7",
		c: ["one", "two"],
		d: true,
		e: 3,
		f: "plain",
	});
});

test("what the request lacks leaves its parameter out; names that nobody knows stay", () => {
	expect(fillParameters({ a: "{factor}", b: "x{factor}", c: "{unknown} {}", d: "{ seed }" }, VALUES)).toEqual({
		c: "{unknown} {}",
		d: "{ seed }",
	});
});

test("what a caller writes is never filled in itself", () => {
	expect(fillParameters({ a: "{prompt}", b: "say {prompt}", c: "{constructor}" }, VALUES)).toEqual({
		a: 'a {seed} of "it"',
		b: 'say a {seed} of "it"',
		c: "{constructor}",
	});
});

test("the pictures that parameters name", () => {
	expect([...namedPictures({ a: "{image2}", b: "x {mask}", c: 1, d: "{picture}" })]).toEqual(["image2", "mask"]);
	expect([...namedPictures({})]).toEqual([]);
});
