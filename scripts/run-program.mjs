/** Programs that the scripts run, one check of which counts as one test. */
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUN_FLAGS, bunEnvironment, findBun } from "./bun.mjs";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
/** A run that hangs must end by itself, with its count: well before a CI job's own limit of 90 minutes. */
export const LIMIT_MS = 80 * 60_000;
/** Bounds a test that hangs; no test has a limit of its own, so that none depends on the speed of a machine. */
const TEST_LIMIT_MS = 600_000;

/**
 * Runs a program and passes its stdout through.
 *
 * @param {(text: string) => void} onStderr gets what it writes to stderr
 * @returns {Promise<boolean>} true where it ended with 0
 */
function run(command, args, { env = process.env, onStderr = (text) => process.stderr.write(text), onLimit = () => {} } = {}) {
	return new Promise((resolve) => {
		const child = spawn(command, args, { cwd: ROOT, env, stdio: ["ignore", "inherit", "pipe"] });
		const timer = setTimeout(() => {
			onLimit();
			child.kill("SIGKILL");
		}, LIMIT_MS);
		child.stderr.setEncoding("utf8").on("data", onStderr);
		child.once("error", (error) => process.stderr.write(`${error.message}\n`));
		child.once("close", (code) => {
			clearTimeout(timer);
			resolve(code === 0);
		});
	});
}

/**
 * Runs test files, or all tests of paths.
 *
 * @param {readonly string[]} paths as `bun test` takes them
 * @param {{workers: number, onStderr?: (text: string) => void, onLimit?: () => void}} options
 * @returns {Promise<boolean>} true where every test passed
 */
export function runTests(paths, { workers, ...handlers }) {
	// Without isolation a worker loads each module once, not once a file: a third less processor time on src/routes.
	const parallel = [`--parallel=${workers}`, "--no-isolate"];
	const flags = ["--no-orphans", ...BUN_FLAGS, "test", ...parallel, `--timeout=${TEST_LIMIT_MS}`];
	return run(findBun(ROOT), [...flags, ...paths], { env: { ...bunEnvironment(process.env), NO_COLOR: "1" }, ...handlers });
}

/** Runs a check by a program of node_modules. */
async function check(name, program, args) {
	const started = performance.now();
	const ok = await run(process.execPath, [join(ROOT, "node_modules", program), ...args]);
	console.log(`${ok ? "(pass)" : "(fail)"} ${name} [${Math.round(performance.now() - started)}ms]`);
	return { passed: ok ? 1 : 0, failed: ok ? 0 : 1 };
}

/** Checks the types of the server, or of the console, which runs in browsers: other globals, and JSX. */
export const checkTypes = (extra = []) => check("types", "typescript/bin/tsc", ["--noEmit", "-p", ".", ...extra]);
export const checkConsoleTypes = (extra = []) =>
	check("types of the console", "typescript/bin/tsc", ["--noEmit", "-p", "console", ...extra]);
export const checkLint = () =>
	check("format, lint, import direction", "@biomejs/biome/bin/biome", [
		"check",
		"--diagnostic-level=warn",
		"--error-on-warnings",
	]);
