import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { withTable } from "./configuration-table.ts";

test("the page on configuration has every setting as it is", () => {
	const page = readFileSync(new URL("../docs/configuration.md", import.meta.url), "utf8");
	expect(withTable(page)).toBe(page);
});
