#!/usr/bin/env node
/**
 * `npm run check`: types, lint, and the tests beside every changed file of src, scripts and bench; under a minute once it
 * has run before. Changed is what differs from the common ancestor with `main`, committed or not.
 * `npm run check -- HEAD~3` compares with another commit. Exit code 1 where anything failed.
 */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { ensureInstalled } from "./install.mjs";
import { checkConsoleTypes, checkLint, checkTypes, ROOT, runTests } from "./run-program.mjs";

/** Keeps what the type checker knows between runs. */
const incremental = (name) => ["--incremental", "--tsBuildInfoFile", join(ROOT, `.cache/check/${name}.tsbuildinfo`)];

/** Returns the lines that git prints; none where it fails. */
function git(...args) {
	const { status, stdout } = spawnSync("git", args, { cwd: ROOT, encoding: "utf8" });
	return status === 0 ? stdout.split("\n").filter((line) => line !== "") : [];
}

/** Returns the tests in the folders of files that changed since a commit. */
function testsBesideChanges(since) {
	const changed = [...git("diff", "--name-only", "--diff-filter=d", since), ...git("ls-files", "--others", "--exclude-standard")];
	const folders = new Set(changed.filter((file) => /^(src|scripts|bench)\//.test(file)).map((file) => dirname(file)));
	return [...folders].flatMap((folder) =>
		readdirSync(join(ROOT, folder))
			.filter((name) => name.endsWith(".test.ts"))
			.map((name) => `${folder}/${name}`),
	);
}

await ensureInstalled({ root: ROOT, dev: true });
const [since = git("merge-base", "HEAD", "main")[0] ?? "HEAD"] = process.argv.slice(2);
const results = await Promise.all([checkTypes(incremental("server")), checkConsoleTypes(incremental("console")), checkLint()]);
const tests = testsBesideChanges(since);
const passed = tests.length === 0 || (await runTests(tests, { workers: 2 }));
process.exitCode = passed && results.every(({ failed }) => failed === 0) ? 0 : 1;
console.log(process.exitCode === 0 ? "All checks passed." : "A check failed.");
