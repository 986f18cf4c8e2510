#!/usr/bin/env node
/**
 * `npm test`: types, lint (with the import direction), then every test; the last line is
 * `N passed, N failed`. `npm test -- src/ledger` runs the tests of a part, without types and lint.
 *
 * Exit code 1 where anything failed, and where nothing ran.
 */
import { existsSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { folderWithClients } from "./client-packages.mjs";
import { ensureInstalled } from "./install.mjs";
import { systemPython } from "./python-environment.mjs";
import { pythonWithFrameworks } from "./python-frameworks.mjs";
import { pythonWithOpenAi } from "./python-openai.mjs";
import { pythonWithOpenApiClient } from "./python-openapi-client.mjs";
import { pythonWithSchemathesis } from "./python-schemathesis.mjs";
import { pythonWithWeb3 } from "./python-web3.mjs";
import { pythonWithWhisper } from "./python-whisper.mjs";
import { checkConsoleTypes, checkLint, checkTypes, LIMIT_MS, ROOT, runTests } from "./run-program.mjs";
import { testOutput } from "./test-output.mjs";

/** More workers than this starve the servers under test of processor time. */
const MOST_WORKERS = 4;
/** A run of fewer files does not tell which were slow. */
const FEW_FILES = 20;
const SLOWEST_SHOWN = 25;

/** The tests' files under the folders that have any, as `bun test` names them. */
function testFiles() {
	const folders = ["src", "test", "scripts", "bench"].filter((folder) => existsSync(join(ROOT, folder)));
	return folders.flatMap((folder) =>
		readdirSync(join(ROOT, folder), { recursive: true })
			.filter((name) => name.endsWith(".test.ts"))
			.map((name) => `${folder}/${name.replaceAll("\\", "/")}`),
	);
}

async function bunTest(paths) {
	const started = performance.now();
	// One more than there are cores: some tests only wait, one of them for 90 s.
	const workers = Math.min(MOST_WORKERS, availableParallelism() + 1);
	const output = testOutput((line) => process.stderr.write(`${line}\n`));
	const ok = await runTests(paths, {
		workers,
		onStderr: output.read,
		onLimit: () => {
			const open = testFiles().filter((file) => !output.finished.has(file));
			process.stderr.write(`\nStopped after ${LIMIT_MS / 60_000} minutes; not finished: ${open.join(", ")}\n`);
		},
	});
	console.log(`tests [${Math.round(performance.now() - started)}ms]`);
	if (output.finished.size >= FEW_FILES) printSlowest(output.finished);
	return output.counts(ok);
}

/** @param {ReadonlyMap<string, number>} files milliseconds of the tests of each */
function printSlowest(files) {
	const slowest = [...files].sort(([, a], [, b]) => b - a).slice(0, SLOWEST_SHOWN);
	console.log(`\nThe slowest of ${files.size} files, in seconds of their tests:`);
	for (const [file, ms] of slowest) console.log(`${(ms / 1_000).toFixed(1).padStart(7)}  ${file}`);
}

/** Clients that are no dependencies: fetched beside the first tests, so that those that use them find them. */
async function prepareClients() {
	for (const set of ["x402-fetch", "solana", "openapi"])
		await folderWithClients(set).catch((error) => console.log(error.message));
	if (systemPython() === null) {
		console.log("No Python 3 with venv here: the tests of the Python clients cannot run.");
		return;
	}
	const pythons = [pythonWithOpenAi, pythonWithFrameworks, pythonWithWeb3, pythonWithWhisper];
	for (const prepare of [...pythons, pythonWithSchemathesis, pythonWithOpenApiClient])
		await prepare().catch((error) => console.log(error.message));
}

async function main(paths) {
	const results = [];
	try {
		await ensureInstalled({ root: ROOT, dev: true });
		if (paths.length === 0) {
			results.push(await checkTypes());
			results.push(await checkConsoleTypes());
			results.push(await checkLint());
		}
		// A test that needs a client waits for it; the others go on meanwhile.
		const preparing = paths.length === 0 ? prepareClients() : null;
		results.push(await bunTest(paths));
		await preparing;
	} catch (error) {
		process.stderr.write(`${error.message}\n`);
		results.push({ passed: 0, failed: 1 });
	}
	const sum = (key) => results.reduce((total, result) => total + (result[key] ?? 0), 0);
	const [passed, failed, skipped] = [sum("passed"), sum("failed"), sum("skipped")];
	if (skipped > 0) console.log(`${skipped} skipped`);
	console.log(`${passed} passed, ${failed} failed`);
	process.exitCode = failed === 0 ? 0 : 1;
}

await main(process.argv.slice(2));
