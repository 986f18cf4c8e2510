#!/usr/bin/env node
/**
 * Installs the run-time packages as npm would on Linux arm64, into a folder of its own, and checks that the
 * native ones arrive and are programs for that processor. Prints what it found; exit code 1 where one is missing.
 */
import { closeSync, copyFileSync, mkdtempSync, openSync, readdirSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runNpm } from "./npm.mjs";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
/** Native packages of the platform, and one of their files that must be there. */
const NEEDED = [
	{ name: "@oven/bun-linux-aarch64", file: /^bun$/ },
	{ name: "@node-llama-cpp/linux-arm64", file: /\.node$/ },
];
/** e_machine of AArch64 (ELF for the Arm 64-bit Architecture). */
const EM_AARCH64 = 183;

function isArm64Program(path) {
	const head = Buffer.alloc(20);
	const file = openSync(path, "r");
	readSync(file, head, 0, head.length, 0);
	closeSync(file);
	return head.toString("latin1", 0, 4) === "\x7fELF" && head.readUInt16LE(18) === EM_AARCH64;
}

/** Path of the package's native file inside `folder`, or null. */
function nativeFile(folder, { name, file }) {
	const home = join(folder, "node_modules", ...name.split("/"));
	let entries;
	try {
		entries = readdirSync(home, { recursive: true, withFileTypes: true });
	} catch {
		return null;
	}
	const found = entries.find((entry) => entry.isFile() && file.test(entry.name));
	return found === undefined ? null : join(found.parentPath ?? found.path, found.name);
}

async function main(folder) {
	for (const name of ["package.json", "package-lock.json", ".npmrc"]) copyFileSync(join(ROOT, name), join(folder, name));
	const target = ["--os=linux", "--cpu=arm64", "--libc=glibc"];
	const args = ["install", "--no-save", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
	const { code } = await runNpm([...args, ...target, "--loglevel=error"], { cwd: folder });
	if (code !== 0) throw new Error(`npm ended with code ${code}`);
	let whole = true;
	for (const needed of NEEDED) {
		const path = nativeFile(folder, needed);
		const good = path !== null && isArm64Program(path);
		console.log(`${needed.name}: ${path === null ? "missing" : good ? "installed" : "not a program for arm64"}`);
		whole &&= good;
	}
	return whole;
}

const folder = mkdtempSync(join(tmpdir(), "turnpike-arm64-"));
try {
	process.exitCode = (await main(folder)) ? 0 : 1;
} catch (error) {
	console.error(error.message);
	process.exitCode = 1;
} finally {
	rmSync(folder, { recursive: true, force: true });
}
