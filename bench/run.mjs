#!/usr/bin/env node
/** `npm run bench`: Turnpike beside its peers in one run; options in bench/README.md. */
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUN_FLAGS, bunEnvironment, findBun } from "../scripts/bun.mjs";
import { ensureInstalled } from "../scripts/install.mjs";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");

try {
	await ensureInstalled({ root: ROOT, dev: true });
} catch (error) {
	process.stderr.write(`${error.message}\n`);
	process.exit(1);
}
const args = ["--no-orphans", ...BUN_FLAGS, join(ROOT, "bench", "main.ts"), ...process.argv.slice(2)];
const bench = spawn(findBun(ROOT), args, { stdio: "inherit", env: bunEnvironment(process.env) });
bench.once("exit", (code) => process.exit(code ?? 1));
