/** How the console is built: one entry, a chunk for each page, nothing inlined, since its CSP takes no inline parts. */
import { defineConfig } from "vite";

export default defineConfig({
	root: import.meta.dirname,
	base: "/console/",
	build: {
		outDir: "dist",
		emptyOutDir: true,
		target: "es2023",
		cssTarget: ["chrome123", "firefox120", "safari17.5"],
		assetsInlineLimit: 0,
		modulePreload: { polyfill: false },
		reportCompressedSize: false,
		rolldownOptions: {
			// Packages mark their parts as "use client", which says nothing here.
			onLog: (level, log, next) => (log.code === "MODULE_LEVEL_DIRECTIVE" ? undefined : next(level, log)),
			checks: { bundlerTimings: false },
		},
	},
	// `vite console`: the pages from here, the API from a server on its default port.
	server: { proxy: { "/console/api": process.env.TURNPIKE_URL ?? "http://127.0.0.1:8787" } },
});
