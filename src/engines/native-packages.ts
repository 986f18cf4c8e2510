/** The platforms of the ONNX runtime; on others the work needs an upstream. */
const ONNX_PLATFORMS = ["linux-x64", "linux-arm64", "darwin-arm64", "win32-x64", "win32-arm64"];

/** Whether an engine can run on this machine; `reason` says what is missing and how to install it. */
export type NativeEngine = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** Returns whether the packages of an ONNX engine are installed. `engine` is its name in the reason. */
export function onnxEngine(engine: string, packages: readonly string[]): NativeEngine {
	const platform = `${process.platform}-${process.arch}`;
	if (!ONNX_PLATFORMS.includes(platform)) return { ok: false, reason: `there is no build of the ${engine} for ${platform}` };
	for (const name of ["onnxruntime-node", ...packages]) {
		try {
			Bun.resolveSync(name, import.meta.dir);
		} catch {
			return { ok: false, reason: `the package ${name} is not installed: run npm install without --omit=optional` };
		}
	}
	return { ok: true };
}
