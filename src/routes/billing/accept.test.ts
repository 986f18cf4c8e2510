import { expect, test } from "bun:test";
import { wantsCsv } from "./accept.ts";

test.each([
	["text/csv", true],
	["TEXT/CSV; header=present", true],
	["text/csv, application/json;q=0.9", true],
	["application/json;q=0.4, text/csv;q=0.5, */*;q=0.1", true],
	["text/csv, application/json", true],
	["text/csv, */*", true],
	["application/json, text/csv", false],
	["application/json, text/csv;q=0.9", false],
	["text/csv;q=0", false],
	["text/csv;q=x", false],
	["*/*", false],
	["text/*", false],
	["text/html", false],
	["", false],
	[null, false],
])("Accept %j: CSV is %p", (accept, csv) => {
	expect(wantsCsv(accept)).toBe(csv);
});
