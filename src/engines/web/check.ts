import { accessSync, constants } from "node:fs";
import { type Finding, fault, notice, ok } from "../../telemetry/finding.ts";
import type { PagePool } from "./page-pool.ts";

const PROBE = "<title>Probe</title><p>reads</p>";

/** Checks the page reader for `turnpike doctor`: starts it and reads; reports whether pages with scripts can be read. */
export async function checkPages(pages: PagePool, chromium: string | undefined): Promise<Finding> {
	const name = "page reader";
	const page = { bytes: new TextEncoder().encode(PROBE), url: "https://probe.example/", charset: null, isHtml: true };
	try {
		const { content } = await pages.page(page, { tenant: "doctor", signal: AbortSignal.timeout(60_000) });
		if (content !== "# Probe\n\nreads")
			return fault(name, `reads a probe as ${JSON.stringify(content.slice(0, 40))}`, "npm install");
	} catch (error) {
		return fault(name, `does not run: ${error instanceof Error ? error.message : error}`, "npm install");
	}
	if (chromium === undefined)
		return notice(name, "works; pages that are empty without scripts are refused", "web: {chromium: /usr/bin/chromium}");
	try {
		accessSync(chromium, constants.X_OK);
	} catch {
		return fault(
			name,
			`web.chromium: ${chromium} cannot be executed`,
			"apt-get install chromium, and web: {chromium: /usr/bin/chromium}",
		);
	}
	return ok(name, `works; pages that need scripts are run by ${chromium}`);
}
