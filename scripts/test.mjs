#!/usr/bin/env node
/**
 * `npm test`: types, lint (with the import direction), then every test; the last line is
 * `N passed, N failed`. `npm test -- src/ledger` runs the tests of a part, without types and lint.
 *
 * Exit code 1 where anything failed, and where nothing ran.
 */
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUN_FLAGS, bunEnvironment, findBun } from "./bun.mjs";
import { ensureInstalled } from "./install.mjs";
import { pythonWithOpenAi, systemPython } from "./python-openai.mjs";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
/** A run that hangs must end by itself, with its count: well before a CI job's own limit. */
const LIMIT_MS = 19 * 60_000;
/** More workers than this starve the servers under test of processor time. */
const MOST_WORKERS = 4;

const modules = (...path) => join(ROOT, "node_modules", ...path);

/**
 * Runs a program with its output passed through.
 *
 * @returns {Promise<{ ok: boolean, output: string }>} `output` is what it wrote to stderr
 */
function run(command, args, env = process.env) {
	return new Promise((resolve) => {
		const child = spawn(command, args, { cwd: ROOT, env, stdio: ["ignore", "inherit", "pipe"] });
		const timer = setTimeout(() => {
			process.stderr.write(`\nStopped after ${LIMIT_MS / 60_000} minutes.\n`);
			child.kill("SIGKILL");
		}, LIMIT_MS);
		const chunks = [];
		child.stderr.on("data", (chunk) => {
			process.stderr.write(chunk);
			chunks.push(chunk);
		});
		child.once("error", (error) => process.stderr.write(`${error.message}\n`));
		child.once("close", (code) => {
			clearTimeout(timer);
			resolve({ ok: code === 0, output: Buffer.concat(chunks).toString("utf8") });
		});
	});
}

/** A check that counts as one test. */
async function check(name, command, args) {
	const started = performance.now();
	const { ok } = await run(command, args);
	console.log(`${ok ? "(pass)" : "(fail)"} ${name} [${Math.round(performance.now() - started)}ms]`);
	return { passed: ok ? 1 : 0, failed: ok ? 0 : 1 };
}

/**
 * The counts of Bun's closing summary. It is the only complete one: a file that does not load or a worker
 * that crashes is missing from the JUnit report.
 */
export function countTests(output, ok) {
	const start = output.lastIndexOf("\nRan ");
	const summary = output
		.slice(0, start === -1 ? 0 : start)
		.split("\n")
		.slice(-8)
		.join("\n");
	const count = (word) => Number(new RegExp(`^ *(\\d+) ${word}$`, "m").exec(summary)?.[1] ?? 0);
	const passed = count("pass");
	const failed = count("fail");
	return { passed, failed: failed === 0 && (!ok || passed === 0) ? 1 : failed, skipped: count("skip") + count("todo") };
}

async function bunTest(paths) {
	const workers = Math.min(MOST_WORKERS, availableParallelism());
	const args = ["--no-orphans", ...BUN_FLAGS, "test", `--parallel=${workers}`, "--only-failures", ...paths];
	const env = { ...bunEnvironment(process.env), NO_COLOR: "1" };
	const { ok, output } = await run(findBun(ROOT), args, env);
	return countTests(output, ok);
}

/** The Python client is fetched before the tests that use it: their time limits are for tests. */
async function preparePython() {
	if (systemPython() === null) {
		console.log("No Python 3 with venv here: the tests of the Python client cannot run.");
		return;
	}
	await pythonWithOpenAi().catch((error) => console.log(error.message));
}

async function main(paths) {
	const results = [];
	try {
		await ensureInstalled({ root: ROOT, dev: true });
		if (paths.length === 0) {
			results.push(await check("types", modules(".bin", "tsc"), ["--noEmit", "-p", "."]));
			results.push(await check("format, lint, import direction", modules(".bin", "biome"), ["check", "--error-on-warnings"]));
			await preparePython();
		}
		results.push(await bunTest(paths));
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
