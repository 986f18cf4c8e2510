#!/usr/bin/env node
/** `npm run docs`: the documentation as a site, in docs/.vitepress/dist. The generator's packages stay in docs/, no part of the product. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUN_FLAGS, bunEnvironment, findBun } from "./bun.mjs";
import { ensureInstalled } from "./install.mjs";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const DOCS = join(ROOT, "docs");

/** Runs a program with its output passed on; ends this process where it fails. */
function run(command, args, cwd, env = process.env) {
	const { status, error } = spawnSync(command, args, { cwd, env, stdio: "inherit", shell: process.platform === "win32" });
	if (error !== undefined) process.stderr.write(`${error.message}\n`);
	if (status !== 0) process.exit(status ?? 1);
}

await ensureInstalled({ root: ROOT });
const generator = join(DOCS, "node_modules/vitepress/bin/vitepress.js");
if (!existsSync(generator)) run("npm", ["ci", "--no-audit", "--no-fund"], DOCS);
run(findBun(ROOT), [...BUN_FLAGS, join(ROOT, "scripts/docs/pages.ts")], ROOT, bunEnvironment(process.env));
run(process.execPath, [generator, "build", DOCS], DOCS);
