#!/usr/bin/env node
/**
 * Prints the folder that has a set of packages for tests, which are no dependencies of ours: `x402-fetch`, the client of
 * x402 version 1, brings 470 packages; those of `solana` and `openapi` want another TypeScript beside them.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { takeLock } from "./file-lock.mjs";

const CACHE = join(dirname(fileURLToPath(import.meta.url)), "..", ".cache");
/** Each set with a name of its own for the folder: it changes with the versions. */
const SETS = {
	// wagmi serves only x402's page for browsers, and brings 540 MB of wallets.
	"x402-fetch": {
		folder: "x402-fetch-1.2.0-small",
		packages: ["x402-fetch@1.2.0"],
		overrides: { wagmi: "npm:empty-npm-package@1.0.0" },
	},
	solana: {
		folder: "solana-x402-2.27.0-litesvm-1.5.0",
		packages: ["@x402/svm@2.27.0", "@x402/fetch@2.27.0", "@x402/core@2.27.0", "@solana/kit@5.5.1", "litesvm@1.5.0"],
	},
	/** What reads the API document: two linters, and a generator of types with the compiler that it wants. */
	openapi: {
		folder: "openapi-spectral-6.16.3-redocly-2.77.0-typescript-7.13.0",
		packages: ["@stoplight/spectral-cli@6.16.3", "@redocly/cli@2.77.0", "openapi-typescript@7.13.0", "typescript@5.9.3"],
	},
};
const NPM = process.platform === "win32" ? "npm.cmd" : "npm";

function install(folder, packages) {
	const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1", ...packages];
	return new Promise((resolve, reject) => {
		const child = spawn(NPM, args, { cwd: folder, stdio: ["ignore", 2, 2], shell: process.platform === "win32" });
		child.once("error", reject);
		child.once("exit", (code) => {
			if (code === 0) resolve();
			else reject(new Error(`npm install ${packages.join(" ")} ended with code ${code}`));
		});
	});
}

/** Removes source maps, which are a third of these packages and which nothing reads. */
function removeSourceMaps(folder) {
	for (const file of readdirSync(folder, { recursive: true })) if (file.endsWith(".map")) rmSync(join(folder, file));
}

/**
 * Returns a folder with a set of packages, which it fetches at the first call.
 *
 * @param {keyof typeof SETS} name
 * @returns {Promise<string>} the folder whose node_modules has the packages
 * @throws where npm cannot fetch them
 */
export async function folderWithClients(name) {
	const set = SETS[name];
	if (set === undefined) throw new Error(`expected one of ${Object.keys(SETS).join(", ")}`);
	const folder = join(CACHE, set.folder);
	if (existsSync(folder)) return folder;
	mkdirSync(CACHE, { recursive: true });
	const lock = await takeLock(join(CACHE, `${name}.lock`));
	try {
		if (existsSync(folder)) return folder;
		// Made aside and renamed: a folder with the final name is always a whole one.
		const draft = `${folder}.draft`;
		rmSync(draft, { recursive: true, force: true });
		mkdirSync(draft);
		writeFileSync(join(draft, "package.json"), `${JSON.stringify({ private: true, overrides: set.overrides ?? {} })}\n`);
		await install(draft, set.packages);
		removeSourceMaps(join(draft, "node_modules"));
		renameSync(draft, folder);
	} finally {
		lock.release();
	}
	return folder;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	try {
		process.stdout.write(`${await folderWithClients(process.argv[2])}\n`);
	} catch (error) {
		process.stderr.write(`${error.message}\n`);
		process.exitCode = 1;
	}
}
