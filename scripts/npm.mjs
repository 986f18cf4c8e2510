/** Finds npm and runs it, on every platform, without a shell where that is possible. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** npm's own script, so that `node` can run it: a Windows `npm.cmd` cannot be started without a shell. */
function npmScript() {
	const started = process.env.npm_execpath;
	if (started && basename(started) === "npm-cli.js") return started;
	const home = dirname(process.execPath);
	const places = [
		...(started ? [join(dirname(started), "npm-cli.js")] : []),
		join(home, "node_modules", "npm", "bin", "npm-cli.js"),
		join(home, "..", "lib", "node_modules", "npm", "bin", "npm-cli.js"),
	];
	return places.find((place) => existsSync(place)) ?? null;
}

/**
 * Runs npm and passes what it prints to our stderr (stdout belongs to the command that was asked for).
 *
 * @param {readonly string[]} args
 * @param {{ cwd: string, onSpawn?: (child: import("node:child_process").ChildProcess) => void }} options
 * @returns {Promise<{ code: number | null, signal: string | null, tail: string }>} `tail` is the end of what npm said
 */
export function runNpm(args, { cwd, onSpawn }) {
	const script = npmScript();
	const [command, all] = script === null ? ["npm", [...args]] : [process.execPath, [script, ...args]];
	return new Promise((resolve, reject) => {
		const child = spawn(command, all, {
			cwd,
			stdio: ["ignore", "pipe", "pipe"],
			shell: script === null && process.platform === "win32",
			windowsHide: true,
		});
		let tail = "";
		const pass = (chunk) => {
			process.stderr.write(chunk);
			tail = (tail + chunk.toString("utf8")).slice(-4_000);
		};
		child.stdout.on("data", pass);
		child.stderr.on("data", pass);
		child.once("error", reject);
		child.once("close", (code, signal) => resolve({ code, signal, tail }));
		onSpawn?.(child);
	});
}
