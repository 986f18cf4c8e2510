/** Links of the documentation lead somewhere, and every page is in the site's list. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const pages = readdirSync(join(ROOT, "docs"), { recursive: true })
	.map(String)
	.filter((name) => name.endsWith(".md") && !name.includes("node_modules") && !name.startsWith("endpoints"))
	.map((name) => `docs/${name}`);
const texts = new Map([...pages, "README.md"].map((page) => [page, readFileSync(join(ROOT, page), "utf8")]));

/** As GitHub and the site's generator make them of headings of plain words. */
function anchorsOf(text: string): Set<string> {
	const headings = [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = ""]) => heading);
	return new Set(
		headings.map((heading) =>
			heading
				.toLowerCase()
				.replaceAll(/[^\p{L}\p{N}\s-]/gu, "")
				.trim()
				.replaceAll(/\s+/g, "-"),
		),
	);
}

test("links between pages lead to a file, and to a heading of it", () => {
	const faults: string[] = [];
	for (const [page, text] of texts) {
		const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, "").replaceAll(/`[^`\n]*`/g, "");
		for (const [, link = ""] of prose.matchAll(/\]\(([^)\s]+)\)/g)) {
			if (/^(https?:|mailto:|\/)/.test(link)) continue;
			const [path = "", anchor] = link.split("#");
			const target = path === "" ? page : join(dirname(page), path);
			if (!existsSync(join(ROOT, target))) faults.push(`${page}: ${link}`);
			else if (anchor !== undefined && !anchorsOf(texts.get(target) ?? readFileSync(join(ROOT, target), "utf8")).has(anchor))
				faults.push(`${page}: ${link} has no such heading`);
		}
	}
	expect(faults).toEqual([]);
});

test("the site's list has every page", () => {
	const config = readFileSync(join(ROOT, "docs/.vitepress/config.mts"), "utf8");
	const listed = pages.map((page) => page.replace(/^docs/, "").replace(/\.md$/, "")).filter((page) => page !== "/index");
	expect(listed.filter((page) => !config.includes(`"${page}"`))).toEqual([]);
});
