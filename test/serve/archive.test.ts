import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type OldMonths, writeOldMonths } from "../../src/store/testing/old-months.ts";
import { StoreFolder } from "../../src/store/testing/store-folder.ts";
import { turnpike } from "../support/served.ts";

let books: StoreFolder;
let old: OldMonths;
let folder: string;

beforeEach(async () => {
	books = new StoreFolder();
	old = await writeOldMonths((now) => books.admin(now));
	await books.closeAdmins();
	folder = join(books.dir, "archives");
});

afterEach(() => books.remove());

const archive = (...args: string[]) => turnpike(["archive", "--data", books.dir, "--to", folder, ...args]);
const audit = (...args: string[]) => turnpike(["audit", "--data", books.dir, ...args]);

describe("turnpike archive", () => {
	test("says first what it would do, then does it, then has nothing to do", async () => {
		const plan = await archive("--before", "2024-10", "--dry-run");
		expect({ code: plan.code, rows: plan.stdout.trim().split(/\s+/) }).toEqual({
			code: 0,
			rows: ["MONTH", "POSTS", "2024-08", "40", "2024-09", "40"],
		});
		const done = await archive("--before", "2024-10");
		expect(done.code).toBe(0);
		expect(done.stdout).toContain(`2024-08: 40 posts in ${join(folder, "2024-08.ndjson.gz")}`);
		expect((await archive("--before", "2024-10")).stdout).toContain("Everything booked before 2024-10");
		expect((await archive("--before", "2024-10", "--dry-run")).stdout).toContain("Everything booked before 2024-10");
		const checked = await audit("--archives", folder);
		expect({ code: checked.code, stderr: checked.stderr }).toEqual({ code: 0, stderr: "" });
		expect(checked.stdout).toContain("2 archive files with 80 posts were read");
		const exported = await turnpike(["usage", "export", "--data", books.dir, "--to", "2024-12-01"]);
		expect(exported.stderr).toContain("up to the end of 2024-09 are in the archives");
		expect(exported.stdout).not.toContain(old.requests["2024-09"]?.[0] ?? "none");
		expect(exported.stdout).toContain(old.requests["2024-10"]?.[0] ?? "none");
		const kept = await turnpike(["usage", "export", "--data", books.dir, "--from", "2024-10-01", "--to", "2024-12-01"]);
		expect(kept.stderr).toBe("");
	});

	test("takes only months that have ended, and only months", async () => {
		for (const before of ["2024", "2024-13", "2024-10-01", "october", "9999-01"]) {
			const refused = await archive("--before", before);
			expect({ before, code: refused.code }).toEqual({ before, code: 64 });
			expect(refused.stderr).toContain("--before: expected");
		}
		expect((await turnpike(["archive", "--data", books.dir])).code).not.toBe(0);
		expect((await archive("--before", "2024-10", "--dryrun")).code).toBe(64);
		expect((await books.audit()).counted.posts).toBe(120);
	});
});

describe("turnpike audit --archives", () => {
	test("finds a file that was changed, and one that is gone", async () => {
		await archive("--before", "2024-10");
		const file = join(folder, "2024-08.ndjson.gz");
		const good = readFileSync(file);
		const bad = Buffer.from(good);
		bad[40] = (bad[40] ?? 0) ^ 1;
		writeFileSync(file, bad);
		const changed = await audit("--archives", folder);
		expect(changed.code).toBe(1);
		expect(changed.stdout).toContain("FAULT archives: an archive file is missing or was changed");
		const gone = JSON.parse((await audit("--archives", books.dir, "--json")).stdout);
		expect(gone.ok).toBe(false);
		expect(gone.findings.map((finding: { numbers: { file: string } }) => finding.numbers.file)).toEqual([
			"2024-08.ndjson.gz",
			"2024-09.ndjson.gz",
		]);
		expect(readdirSync(folder).length).toBe(4);
		expect((await audit()).code).toBe(0);
	});
});

test("a request is shown by its id for as many days as the configuration says", async () => {
	const [id = ""] = old.requests["2024-10"] ?? [];
	const config = join(books.dir, "turnpike.yaml");
	const show = () => turnpike(["requests", "show", id, "--data", books.dir, "--config", config]);
	writeFileSync(config, "{}");
	const old30 = await show();
	expect({ code: old30.code, stdout: old30.stdout }).toEqual({ code: 1, stdout: "" });
	expect(old30.stderr).toContain("more than 30 days ago");
	writeFileSync(config, JSON.stringify({ retention: { requestDays: 36_500 } }));
	const shown = await show();
	expect(shown.code).toBe(0);
	expect(shown.stdout).toContain(id);
});
