import { expect, test } from "bun:test";
import { entryId } from "./entry-id.ts";

const SECRET = "5a".repeat(32);
const AT = Date.UTC(2026, 0, 1);

test("is a ULID of the entry's time that stays the same", () => {
	expect(entryId(SECRET, 7n, AT)).toMatch(/^ledger_[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
	expect(entryId(SECRET, 7n, AT)).toBe(entryId(SECRET, 7n, AT));
	expect(entryId(SECRET, 7n, 0)).toStartWith("ledger_0000000000");
	// The example of the ULID specification's time part.
	expect(entryId(SECRET, 7n, 1_469_918_176_385).slice(7, 17)).toBe("01ARYZ6S41");
});

test("is another one for each place and secret, and tells no order of the places", () => {
	const ids = Array.from({ length: 1_000 }, (_, place) => entryId(SECRET, BigInt(place), AT));
	expect(new Set(ids).size).toBe(1_000);
	const rising = ids.filter((id, index) => index > 0 && id > (ids[index - 1] ?? "")).length;
	expect(rising).toBeGreaterThan(400);
	expect(rising).toBeLessThan(600);
	expect(entryId("5b".repeat(32), 7n, AT)).not.toBe(entryId(SECRET, 7n, AT));
});

test("stands behind the ids of earlier entries", () => {
	expect(entryId(SECRET, 1n, AT + 1) > entryId(SECRET, 2n, AT)).toBe(true);
});
