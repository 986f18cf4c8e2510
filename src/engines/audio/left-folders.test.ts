import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { everyHour, removeLeftFolders } from "./left-folders.ts";

test("folders of a process that was killed are removed, those at work and those of others stay", async () => {
	const parent = mkdtempSync(join(tmpdir(), "turnpike-left-"));
	const old = (name: string) => {
		mkdirSync(join(parent, name));
		writeFileSync(join(parent, name, "audio"), "spoken");
		utimesSync(join(parent, name), new Date(0), new Date(0));
	};
	old("ours-1");
	old("others-1");
	mkdirSync(join(parent, "ours-2"));
	try {
		await removeLeftFolders(parent, "ours-", Date.now());
		expect(readdirSync(parent).sort()).toEqual(["others-1", "ours-2"]);
		await removeLeftFolders(join(parent, "nowhere"), "ours-", Date.now());
	} finally {
		rmSync(parent, { recursive: true, force: true });
	}
});

test("once an hour is at first, and not again before an hour", () => {
	const isDue = everyHour();
	expect([0, 1, 3_599_999, 3_600_000, 3_600_001].map(isDue)).toEqual([true, false, false, true, false]);
});
