#!/usr/bin/env node
/**
 * Builds the console's pages beforehand, for an image or a folder that the server cannot write: `node
 * scripts/build-console.mjs`. A server that finds them built from the same sources builds nothing.
 */
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUN_FLAGS, bunEnvironment, findBun } from "./bun.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const bun = findBun(root);
if (bun === null) {
	console.error("Bun is not here yet: run npm install first");
	process.exit(1);
}
const script = `
const { builtConsole } = await import("./src/gateway/console-build.ts");
const log = { info: (_, said) => console.log(said), warn() {}, error() {}, debug() {}, level: "info" };
await builtConsole({ dataDir: ${JSON.stringify(join(root, "console"))}, log });`;
const { status } = spawnSync(bun, [...BUN_FLAGS, "-e", script], {
	cwd: root,
	env: bunEnvironment(process.env),
	stdio: "inherit",
});
process.exit(status ?? 1);
