import { expect, test } from "bun:test";
import { nearestSize } from "./nearest-size.ts";

test("the nearest in ratio, the largest of several alike, none of none", () => {
	const sizes = ["1024x1024", "768x512", "1536x1024", "1024x1536"];
	expect(nearestSize(sizes, { width: 1248, height: 832 })).toBe("1536x1024");
	expect(nearestSize(sizes, { width: 700, height: 800 })).toBe("1024x1024");
	expect(nearestSize([], { width: 1, height: 1 })).toBeNull();
});
