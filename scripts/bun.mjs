/** The Bun that npm installed for this machine, and the environment that it needs. */
import { existsSync } from "node:fs";
import { join } from "node:path";

const ARCH = { x64: "x64", arm64: "aarch64" };
const LOADERS = { x64: "/lib/ld-musl-x86_64.so.1", arm64: "/lib/ld-musl-aarch64.so.1" };
const GLIBC_LOADERS = { x64: "/lib64/ld-linux-x86-64.so.2", arm64: "/lib/ld-linux-aarch64.so.1" };

/** `glibc` or `musl` on Linux, else empty. Where both loaders exist, programs of the system use glibc. */
export function libc() {
	if (process.platform !== "linux") return "";
	const isMusl = existsSync(LOADERS[process.arch] ?? "") && !existsSync(GLIBC_LOADERS[process.arch] ?? "");
	return isMusl ? "musl" : "glibc";
}

/** Names of Bun's packages that can run here, best first. Its x64 builds need no AVX2 any more. */
function packageNames() {
	const arch = ARCH[process.arch];
	if (arch === undefined) return [];
	if (process.platform === "win32") return [`bun-windows-${arch}`, `bun-windows-${arch}-baseline`];
	if (process.platform === "android") return [`bun-linux-${arch}-android`];
	const os = process.platform;
	if (os === "linux" && libc() === "musl") return [`bun-linux-${arch}-musl`, `bun-linux-${arch}-musl-baseline`];
	return [`bun-${os}-${arch}`, `bun-${os}-${arch}-baseline`];
}

/**
 * Path of the Bun program under `root`'s node_modules, or null. The platform's package is looked at first:
 * `bun/bin/bun.exe` is a placeholder until Bun's install script has run, and npm may leave that unrun.
 *
 * @param {string} root
 * @returns {string | null}
 */
export function findBun(root) {
	const program = process.platform === "win32" ? "bun.exe" : "bun";
	const modules = join(root, "node_modules");
	const places = packageNames().flatMap((name) => [
		join(modules, "@oven", name, "bin", program),
		join(modules, "bun", "node_modules", "@oven", name, "bin", program),
	]);
	return places.find((place) => existsSync(place)) ?? null;
}

/**
 * Flags of every run: no .env and no package fetched behind the operator's back; a heap that is collected early,
 * which measured no dearer for a server of short requests and takes less memory.
 */
export const BUN_FLAGS = ["--no-env-file", "--no-install", "--smol"];

const LOOPBACK = ["localhost", "127.0.0.1", "::1"];

/**
 * `base` with what Bun reads before any of our code runs.
 *
 * @param {NodeJS.ProcessEnv} base
 * @returns {NodeJS.ProcessEnv}
 */
export function bunEnvironment(base) {
	const env = { ...base };
	// Bun's own cap is 256 requests under way, past which fetch waits in silence; ours answers 429 instead.
	env.BUN_CONFIG_MAX_HTTP_REQUESTS ??= "20000";
	env.DO_NOT_TRACK ??= "1";
	// fetch obeys HTTP_PROXY for loopback too: a local model server would be asked through the proxy.
	const given = (base.NO_PROXY ?? base.no_proxy ?? "").split(",").map((host) => host.trim());
	const hosts = [...new Set([...given.filter((host) => host !== ""), ...LOOPBACK])].join(",");
	env.NO_PROXY = hosts;
	if (process.platform !== "win32") env.no_proxy = hosts;
	return env;
}
