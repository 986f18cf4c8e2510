import { accessSync, constants } from "node:fs";
import type { EngineCheck } from "../engine-check.ts";
import type { PagePool } from "./page-pool.ts";

const PROBE = "<title>Probe</title><p>reads</p>";

/** The reader of pages for `turnpike doctor`: starts it and reads; says whether pages with scripts can be read. */
export async function checkPages(pages: PagePool, chromium: string | undefined): Promise<EngineCheck> {
	const name = "page reader";
	const page = { bytes: new TextEncoder().encode(PROBE), url: "https://probe.example/", charset: null, isHtml: true };
	try {
		const { content } = await pages.page(page, { tenant: "doctor", signal: AbortSignal.timeout(60_000) });
		if (content !== "# Probe\n\nreads")
			return { name, ok: false, text: `reads a probe as ${JSON.stringify(content.slice(0, 40))}` };
	} catch (fault) {
		return { name, ok: false, text: `does not run: ${fault instanceof Error ? fault.message : fault}` };
	}
	if (chromium === undefined)
		return { name, ok: true, text: "works; pages that are empty without scripts are refused: set web.chromium" };
	try {
		accessSync(chromium, constants.X_OK);
	} catch {
		return { name, ok: false, text: `web.chromium: ${chromium} is no program that can be run` };
	}
	return { name, ok: true, text: `works; pages that need scripts are run by ${chromium}` };
}
