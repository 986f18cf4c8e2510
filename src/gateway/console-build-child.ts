/**
 * Builds the console's pages: `bun console-build-child.ts SOURCES OUT`. It compresses each text file once, at build
 * time.
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "vite";

/** Smaller files do not get smaller on the wire by compression. */
const MIN_BYTES = 1_024;
const TEXT = /\.(?:html|js|css|svg|json|txt)$/;

const [sources = "", outDir = ""] = process.argv.slice(2);
await build({
	root: sources,
	configFile: join(sources, "vite.config.ts"),
	logLevel: "error",
	build: { outDir, emptyOutDir: true },
});
for (const entry of await readdir(outDir, { recursive: true, withFileTypes: true })) {
	if (!entry.isFile() || !TEXT.test(entry.name)) continue;
	const path = join(entry.parentPath, entry.name);
	const bytes = await readFile(path);
	if (bytes.length < MIN_BYTES) continue;
	const quality = {
		[constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
		[constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
	};
	await writeFile(`${path}.br`, brotliCompressSync(bytes, { params: quality }));
	await writeFile(`${path}.gz`, gzipSync(bytes, { level: 9 }));
}
