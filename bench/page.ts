/** The page docs/benchmarks.md, in sections that are written by different runs: each keeps the others' as they are. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const PAGE = join(import.meta.dir, "..", "docs", "benchmarks.md");
/** Sections that `npm run bench` does not write. */
const KEPT = [
	"## Settled requests",
	"## Chain calls",
	"## Pictures",
	"## Text of files",
	"## Text of files, in a warm process",
	"## Sign-ins of wallets",
	"## Audits",
];

/** A section from its heading to the next one of its rank; empty where there is none. */
function sectionOf(page: string, heading: string): string {
	const start = page.indexOf(`${heading}\n`);
	if (start === -1) return "";
	const end = page.indexOf("\n## ", start + 1);
	return page.slice(start, end === -1 ? undefined : end + 1).trimEnd();
}

const current = (): string => (existsSync(PAGE) ? readFileSync(PAGE, "utf8") : "# Benchmarks\n");

/** Writes the page of `npm run bench`; the sections of other runs stay behind it. */
export function writePage(page: string): void {
	const before = current();
	const kept = KEPT.map((heading) => sectionOf(before, heading)).filter((section) => section !== "");
	writeFileSync(PAGE, `${[page.trimEnd(), ...kept].join("\n\n")}\n`);
}

/** Writes one of the sections that `npm run bench` keeps. */
export function writeSection(section: string): void {
	const before = current();
	const heading = section.slice(0, section.indexOf("\n"));
	if (!KEPT.includes(heading)) throw new Error(`the page does not keep ${heading}`);
	const old = sectionOf(before, heading);
	const rest = old === "" ? before.trimEnd() : before.replace(old, "").trimEnd();
	writeFileSync(PAGE, `${rest}\n\n${section.trimEnd()}\n`);
}
