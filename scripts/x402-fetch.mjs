#!/usr/bin/env node
/** Prints the folder that has the client of x402 version 1: it brings 470 packages, so it is no dependency of ours. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { takeLock } from "./file-lock.mjs";

const CACHE = join(dirname(fileURLToPath(import.meta.url)), "..", ".cache");
const PACKAGE = "x402-fetch";
const VERSION = "1.2.0";
const NPM = process.platform === "win32" ? "npm.cmd" : "npm";

function install(folder) {
	const args = [
		"install",
		"--ignore-scripts",
		"--no-audit",
		"--no-fund",
		"--loglevel=error",
		"--fetch-retries=1",
		`${PACKAGE}@${VERSION}`,
	];
	return new Promise((resolve, reject) => {
		const child = spawn(NPM, args, { cwd: folder, stdio: ["ignore", 2, 2], shell: process.platform === "win32" });
		child.once("error", reject);
		child.once("exit", (code) => {
			if (code === 0) resolve();
			else reject(new Error(`npm install ${PACKAGE}@${VERSION} ended with code ${code}`));
		});
	});
}

/**
 * @returns {Promise<string>} the folder whose node_modules has the package
 * @throws where npm cannot fetch it
 */
export async function folderWithX402Fetch() {
	const folder = join(CACHE, `${PACKAGE}-${VERSION}`);
	if (existsSync(folder)) return folder;
	mkdirSync(CACHE, { recursive: true });
	const lock = await takeLock(join(CACHE, `${PACKAGE}.lock`));
	try {
		if (existsSync(folder)) return folder;
		// Made aside and renamed: a folder with the final name is always a whole one.
		const draft = `${folder}.draft`;
		rmSync(draft, { recursive: true, force: true });
		mkdirSync(draft);
		writeFileSync(join(draft, "package.json"), '{ "private": true }\n');
		await install(draft);
		renameSync(draft, folder);
	} finally {
		lock.release();
	}
	return folder;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	try {
		process.stdout.write(`${await folderWithX402Fetch()}\n`);
	} catch (error) {
		process.stderr.write(`${error.message}\n`);
		process.exitCode = 1;
	}
}
