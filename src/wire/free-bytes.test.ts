import { expect, test } from "bun:test";
import { freeBytes } from "./free-bytes.ts";

test("bytes with a buffer of their own are given back, parts of another are left alone", () => {
	const own = new Uint8Array(1_000);
	freeBytes(own);
	expect(own.length).toBe(0);
	freeBytes(own);
	const whole = new Uint8Array([1, 2, 3]);
	freeBytes(whole.subarray(1));
	expect([...whole]).toEqual([1, 2, 3]);
	freeBytes(new Uint8Array(new SharedArrayBuffer(4)));
});
