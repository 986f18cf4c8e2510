/**
 * Makes sure that node_modules holds what this checkout's package-lock.json asks for.
 *
 * It promises: nothing to do costs a hash of one file and needs no network; two starts at once install once;
 * a running server keeps its packages (npm adds and replaces, it never wipes; development packages that are
 * there stay). It never changes package.json or package-lock.json.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findBun, libc } from "./bun.mjs";
import { takeLock } from "./file-lock.mjs";
import { runNpm } from "./npm.mjs";

/** What stands in the way of an installation, in words for the person who started us. */
export class InstallError extends Error {
	name = "InstallError";
}

const stampPath = (root) => join(root, "node_modules", ".turnpike-installed.json");

/** What must be the same for an installation to still hold. `set` comes on top: `dev` includes `run`. */
function wantedStamp(root) {
	const lock = readFileSync(join(root, "package-lock.json"));
	return {
		lock: createHash("sha256").update(lock).digest("hex"),
		platform: [process.platform, process.arch, libc()].join("-"),
	};
}

function readStamp(root) {
	try {
		return JSON.parse(readFileSync(stampPath(root), "utf8"));
	} catch {
		return null;
	}
}

function isInstalled(root, wanted, dev) {
	const stamp = readStamp(root);
	return (
		stamp !== null &&
		stamp.lock === wanted.lock &&
		stamp.platform === wanted.platform &&
		(stamp.set === "dev" || !dev) &&
		findBun(root) !== null
	);
}

/** Development packages are there (by `npm test`, or by a hand-made `npm install`): `--omit=dev` would remove them. */
function hasDevPackages(root) {
	const { devDependencies = {} } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
	return Object.keys(devDependencies).some((name) => existsSync(join(root, "node_modules", name)));
}

/** What npm's last words mean, and what to do. */
function explain(tail) {
	if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|network/i.test(tail)) {
		return "The package registry could not be reached. Check the network, and behind a proxy set HTTPS_PROXY; then start again.";
	}
	if (/SELF_SIGNED_CERT|UNABLE_TO_|CERT_/i.test(tail)) {
		return "The registry's certificate is not trusted here. Name your certificate authority: NODE_EXTRA_CA_CERTS=/path/ca.pem.";
	}
	if (/EACCES|EPERM|EROFS/i.test(tail)) {
		return "This folder's node_modules cannot be written. Start as the folder's owner, or correct its permissions.";
	}
	if (/ENOSPC/i.test(tail)) return "The disk is full. About 800 MB are needed; make room and start again.";
	if (/EINTEGRITY/i.test(tail)) return "A package arrived damaged. Run `npm cache clean --force` and start again.";
	return "npm's own words are above. Correct that and start again.";
}

/**
 * Installs what is missing.
 *
 * @param {{ root: string, dev?: boolean, onNpm?: (child: import("node:child_process").ChildProcess) => void }} options
 *   `root` the checkout; `dev` asks for the development packages too; `onNpm` gets npm's process while it runs
 * @returns {Promise<boolean>} true where npm had to run
 * @throws {InstallError} with text for a person
 */
export async function ensureInstalled({ root, dev = false, onNpm = () => {} }) {
	const wanted = wantedStamp(root);
	if (isInstalled(root, wanted, dev)) return false;
	mkdirSync(join(root, ".cache"), { recursive: true });
	const lock = await takeLock(join(root, ".cache", "install.lock"), () => {
		process.stderr.write("Another start is installing packages here; waiting for it.\n");
	});
	try {
		if (isInstalled(root, wanted, dev)) return false;
		await install(root, wanted, dev || hasDevPackages(root), (child) => {
			if (child.pid !== undefined) lock.addPid(child.pid);
			onNpm(child);
		});
		return true;
	} finally {
		lock.release();
	}
}

/** Returns the folders of onnxruntime-node, whose package has the libraries of every platform. */
function prunedPackage(root) {
	const folder = join(root, "node_modules", "onnxruntime-node");
	const platforms = join(folder, "bin", "napi-v6");
	return { folder, platforms, needed: join(platforms, process.platform, process.arch) };
}

/** Removes the libraries of other platforms, 240 MB of 290. A package of another layout stays as it is. */
function removeOtherPlatforms({ platforms, needed }) {
	if (!existsSync(needed)) return;
	for (const system of readdirSync(platforms)) {
		for (const arch of readdirSync(join(platforms, system))) {
			const folder = join(platforms, system, arch);
			if (folder !== needed) rmSync(folder, { recursive: true, force: true });
		}
	}
}

async function install(root, wanted, dev, onSpawn) {
	process.stderr.write(
		`Installing packages${dev ? ", development packages too" : ""} (once; a minute or two on a slow line) ...\n`,
	);
	const pruned = prunedPackage(root);
	// npm takes a package of the right version for whole: of another platform it must be fetched again.
	if (!existsSync(pruned.needed)) rmSync(pruned.folder, { recursive: true, force: true });
	// Gone before npm touches anything: an installation that breaks off is never taken for a whole one.
	rmSync(stampPath(root), { force: true });
	const args = [
		"install",
		// package.json and the lock stay as they are; another npm would write its own flavour of the lock.
		"--no-save",
		dev ? "--include=dev" : "--omit=dev",
		"--include=optional",
		"--no-audit",
		"--no-fund",
		"--prefer-offline",
		"--loglevel=error",
	];
	let result;
	try {
		result = await runNpm(args, { cwd: root, onSpawn });
	} catch (error) {
		throw new InstallError(`npm could not be started (${error.message}). It comes with Node.js; put it on the PATH.`);
	}
	if (result.code !== 0) {
		const how = result.signal === null ? `exit code ${result.code}` : result.signal;
		throw new InstallError(`The packages could not be installed (npm: ${how}). ${explain(result.tail)}`);
	}
	if (findBun(root) === null) {
		throw new InstallError(
			`npm installed no Bun for ${wanted.platform}. Optional packages may be switched off: look for "omit" in \`npm config list\`.`,
		);
	}
	removeOtherPlatforms(pruned);
	const draft = `${stampPath(root)}.${process.pid}`;
	writeFileSync(draft, `${JSON.stringify({ ...wanted, set: dev ? "dev" : "run" })}\n`);
	renameSync(draft, stampPath(root));
}
