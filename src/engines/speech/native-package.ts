/** Where the model's runtime is built for; elsewhere speech needs an upstream. */
const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-arm64", "win32-x64", "win32-arm64"];
const PACKAGES = ["onnxruntime-node", "@echogarden/espeak-ng-emscripten"];

/** Whether what the speech engine is made of is installed here; `reason` says what is missing and how to get it. */
export function nativeSpeechEngine(): { readonly ok: true } | { readonly ok: false; readonly reason: string } {
	const platform = `${process.platform}-${process.arch}`;
	if (!PLATFORMS.includes(platform)) return { ok: false, reason: `there is no build of the speech engine for ${platform}` };
	for (const name of PACKAGES) {
		try {
			Bun.resolveSync(name, import.meta.dir);
		} catch {
			return { ok: false, reason: `the package ${name} is not installed: run npm install without --omit=optional` };
		}
	}
	return { ok: true };
}
