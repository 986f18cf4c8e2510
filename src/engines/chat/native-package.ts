/** The package with the CPU build of each platform. */
const PACKAGES: Readonly<Record<string, string>> = {
	"linux-x64": "@node-llama-cpp/linux-x64",
	"linux-arm64": "@node-llama-cpp/linux-arm64",
	"darwin-x64": "@node-llama-cpp/mac-x64",
	"darwin-arm64": "@node-llama-cpp/mac-arm64-metal",
	"win32-x64": "@node-llama-cpp/win-x64",
	"win32-arm64": "@node-llama-cpp/win-arm64",
};

/** Returns whether the engine's native part is installed; `reason` says what is missing and how to install it. */
export function nativeChatEngine(): { readonly ok: true } | { readonly ok: false; readonly reason: string } {
	const platform = `${process.platform}-${process.arch}`;
	const name = PACKAGES[platform];
	if (name === undefined) return { ok: false, reason: `there is no build of the engine for ${platform}` };
	try {
		Bun.resolveSync(name, import.meta.dir);
		return { ok: true };
	} catch {
		return { ok: false, reason: `the package ${name} is not installed: run npm install without --omit=optional` };
	}
}
