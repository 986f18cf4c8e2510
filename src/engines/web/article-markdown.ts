import { gfm } from "@joplin/turndown-plugin-gfm";
import TurndownService, { type TurndownNode } from "turndown";

const service = new TurndownService({
	headingStyle: "atx",
	codeBlockStyle: "fenced",
	bulletListMarker: "-",
	emDelimiter: "*",
	hr: "---",
})
	.use(gfm)
	.remove(["script", "style", "noscript", "template", "iframe", "object", "svg", "math", "button", "input"])
	.addRule("image", { filter: "img", replacement: (_, node) => image(node) })
	.addRule("item", { filter: "li", replacement: (content, node) => item(content, node) });

/** Converts the HTML of an article to GitHub's Markdown. */
export function articleMarkdown(html: string): string {
	const short = html.replaceAll(/&(?:nbsp|#160|#xa0);/gi, "\u00a0").replaceAll(LONG_SPACE, (run) => run.slice(0, 100));
	return service.turndown(short).trim();
}

/** The library's time grows with the square of such a run. */
const LONG_SPACE = /\s{101,}/g;

/** Images inside a data URL are bytes, not text. */
function image(node: TurndownNode): string {
	const source = node.getAttribute("src") ?? "";
	const alternative = (node.getAttribute("alt") ?? "").replaceAll(/\s+/g, " ").trim();
	if (!/^https?:/i.test(source)) return alternative === "" ? "" : `![${alternative}]`;
	return `![${alternative.replaceAll(/[[\]]/g, "\\$&")}](${source.replaceAll(/[\s()]/g, encodeURIComponent)})`;
}

function item(content: string, node: TurndownNode): string {
	const mark = node.parentNode?.nodeName === "OL" ? `${numberOf(node, node.parentNode)}. ` : "- ";
	const text = content
		.replace(/^\n+/, "")
		.replace(/\n+$/, "")
		.replaceAll("\n", `\n${" ".repeat(mark.length)}`);
	return `${mark}${text}${node.nextSibling === null ? "" : "\n"}`;
}

function numberOf(node: TurndownNode, list: TurndownNode): number {
	const first = Number.parseInt(list.getAttribute("start") ?? "1", 10);
	return (Number.isNaN(first) ? 1 : first) + Array.from(list.children).indexOf(node);
}
