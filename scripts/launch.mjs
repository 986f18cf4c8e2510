/**
 * Installs what is missing, then runs Turnpike on Bun as if it were this process: same arguments, folder,
 * terminal, signals and exit code.
 */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUN_FLAGS, bunEnvironment, findBun } from "./bun.mjs";
import { ensureInstalled, InstallError } from "./install.mjs";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const OLDEST_NODE = 20;
/** A terminal and npm may each pass us the same Ctrl-C; within this time it is one wish. */
const SAME_SIGNAL_MS = 1_000;
const PARENT_POLL_MS = 500;

const SIGNALS = process.platform === "win32" ? ["SIGINT", "SIGBREAK"] : ["SIGINT", "SIGTERM", "SIGHUP"];

/** Passes signals on to whichever child is current, and remembers the first that asked for an end. */
function signalRelay() {
	const sentAt = new Map();
	const relay = { child: null, ending: null };
	const send = (signal) => {
		if (signal !== "SIGHUP" || relay.child?.isServer !== true) relay.ending ??= signal;
		const last = sentAt.get(signal);
		if (last !== undefined && Date.now() - last < SAME_SIGNAL_MS) return;
		sentAt.set(signal, Date.now());
		relay.child?.process.kill(signal);
	};
	for (const signal of SIGNALS) process.on(signal, () => send(signal));
	return Object.assign(relay, {
		send,
		stop() {
			for (const signal of SIGNALS) process.removeAllListeners(signal);
		},
	});
}

/**
 * npm between us and the operator: where it is killed outright, nobody is left who could end the server, and
 * it would keep its port. A parent that is a shell may go: that is how servers are put into the background.
 */
function watchNpm(onGone) {
	if (process.platform === "win32" || process.env.npm_lifecycle_event === undefined) return;
	const parent = process.ppid;
	const timer = setInterval(() => {
		if (process.ppid === parent) return;
		clearInterval(timer);
		onGone();
	}, PARENT_POLL_MS);
	timer.unref();
}

/** Ends this process the way that its child ended. */
function endLike({ code, signal }) {
	if (signal === null) process.exit(code ?? 1);
	if (process.platform !== "win32") process.kill(process.pid, signal);
	// Reached on Windows only, or where the signal does not end a process.
	process.exit(128 + (constants.signals[signal] ?? 0));
}

function run(relay, args) {
	const bun = findBun(ROOT);
	const child = spawn(bun, ["--no-orphans", ...BUN_FLAGS, join(ROOT, "src", "main.ts"), ...args], {
		stdio: "inherit",
		env: bunEnvironment(process.env),
	});
	relay.child = { process: child, isServer: args[0] === "serve" };
	return new Promise((resolve, reject) => {
		child.once("error", (error) => reject(new InstallError(`Bun cannot run here: ${error.message} (${bun}).`)));
		child.once("exit", (code, signal) => resolve({ code, signal }));
	});
}

/**
 * @param {readonly string[]} args a command of Turnpike and its arguments
 * @returns {Promise<never>}
 */
export async function launch(args) {
	if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
		process.stderr.write(`Turnpike needs Node ${OLDEST_NODE} or newer; this is ${process.versions.node}.\n`);
		process.exit(1);
	}
	const relay = signalRelay();
	watchNpm(() => relay.send("SIGTERM"));
	let ended;
	try {
		await ensureInstalled({
			root: ROOT,
			onNpm: (child) => {
				relay.child = { process: child, isServer: false };
			},
		});
		if (relay.ending === null) ended = await run(relay, args);
	} catch (error) {
		if (relay.ending === null) {
			if (!(error instanceof InstallError)) throw error;
			process.stderr.write(`\n${error.message}\n`);
			process.exit(1);
		}
	}
	relay.stop();
	return endLike(ended ?? { code: null, signal: relay.ending });
}
