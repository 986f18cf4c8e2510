/**
 * Pythons with a package of a pinned version, for the tests that use a published client unmodified. Each has a
 * virtual environment of its own under .cache/, made once.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { takeLock } from "./file-lock.mjs";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const CACHE = join(ROOT, ".cache");

const pythonIn = (folder) =>
	process.platform === "win32" ? join(folder, "Scripts", "python.exe") : join(folder, "bin", "python");

/** Runs a program, its output on our stderr. */
function run(command, args, env = process.env) {
	return new Promise((resolve, reject) => {
		const child = spawn(command, args, { stdio: ["ignore", 2, 2], env });
		child.once("error", reject);
		child.once("exit", (code) => {
			if (code === 0) resolve();
			else reject(new Error(`${command} ${args.join(" ")} ended with code ${code}`));
		});
	});
}

/** A Python of the system, or null. */
export function systemPython() {
	const names = process.platform === "win32" ? ["py", "python"] : ["python3", "python"];
	return names.find((name) => spawnSync(name, ["-c", "import venv, ensurepip"], { stdio: "ignore" }).status === 0) ?? null;
}

/**
 * Compiles the modules that the tests import, and no others: whole packages of compiled code take 300 MB.
 *
 * @param {string} python
 * @param {readonly string[]} modules
 */
function compileModules(python, modules) {
	const { PYTHONDONTWRITEBYTECODE: _, ...rest } = process.env;
	// LiteLLM asks for a newer price list at its import, three times where there is none.
	const env = { ...rest, LITELLM_LOCAL_MODEL_COST_MAP: "True" };
	return run(python, ["-c", modules.map((module) => `import ${module}`).join("\n")], env);
}

/**
 * Returns a Python that has a package. Its environment is made at the first call.
 *
 * @param {string} name of the package
 * @param {string} version the exact one
 * @param {readonly string[]} modules what the tests import
 * @param {readonly string[]} [others] further packages beside it, `name==version`
 * @returns {Promise<string>} the path of a Python that has it
 * @throws where there is no Python with `venv`, or pip cannot fetch the package
 */
export async function pythonWith(name, version, modules, others = []) {
	const folder = join(CACHE, `python-${name}-${version}`);
	if (existsSync(folder)) return pythonIn(folder);
	const python = systemPython();
	if (python === null) throw new Error("Python 3 with its venv module is needed (Debian: apt-get install python3-venv)");
	mkdirSync(CACHE, { recursive: true });
	const lock = await takeLock(join(CACHE, `python-${name}.lock`));
	try {
		if (existsSync(folder)) return pythonIn(folder);
		// Made aside and renamed: a folder with the final name is always a whole one.
		const draft = `${folder}.draft`;
		rmSync(draft, { recursive: true, force: true });
		await run(python, ["-m", "venv", draft]);
		const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-compile"];
		await run(pythonIn(draft), [...install, `${name}==${version}`, ...others]);
		await run(pythonIn(draft), ["-m", "pip", "uninstall", "--quiet", "--yes", "pip"]);
		await compileModules(pythonIn(draft), modules);
		renameSync(draft, folder);
	} finally {
		lock.release();
	}
	return pythonIn(folder);
}

/** Prints the path that a promise of it brings, or its error with exit code 1. */
export async function printPython(path) {
	try {
		process.stdout.write(`${await path}\n`);
	} catch (error) {
		process.stderr.write(`${error.message}\n`);
		process.exitCode = 1;
	}
}
