import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { officeCorpus } from "../../../test/support/office-corpus.ts";
import { convert, OFFICE_SUITE } from "../../../test/support/office-suite.ts";
import { extractText } from "./extract.ts";

if (OFFICE_SUITE === null)
	console.error("skipped: files made by LibreOffice: install libreoffice-writer-nogui, -calc-nogui and -impress-nogui");

/** Their tables are runs of words. */
const WITHOUT_TABLES = /\.(txt|csv)$/;
let folder = "";

beforeAll(async () => {
	if (OFFICE_SUITE !== null) folder = await convert(OFFICE_SUITE, officeCorpus);
});
afterAll(() => {
	if (folder !== "") rmSync(folder, { recursive: true, force: true });
});

const files = officeCorpus.flatMap(({ name, to, texts, rows }) =>
	to.map((format) => ({ name: name.replace(/\w+$/, format), texts, rows })),
);

describe.skipIf(OFFICE_SUITE === null)("files made by LibreOffice", () => {
	test.each(files)("$name gives every text in order, and its tables", async ({ name, texts, rows }) => {
		const text = await extractText(readFileSync(join(folder, name)), name, { readScan: null });
		const shown = text.replaceAll(/\s+/g, " ");
		let at = 0;
		for (const known of texts) {
			const found = shown.indexOf(known, at);
			expect(found, `${known} after ${JSON.stringify(shown.slice(Math.max(0, at - 60), at))}`).toBeGreaterThanOrEqual(0);
			at = found + known.length;
		}
		if (WITHOUT_TABLES.test(name)) return;
		for (const row of rows) expect(text).toContain(`| ${row.join(" | ")} |`);
	});
});
