import { blocks, heading, link, oneLine, quote, table } from "../markdown.ts";
import { child, descendants, type MarkupElement, type MarkupNode, parseHtml, textOf } from "./markup-tree.ts";

const HIDDEN = new Set([
	"script",
	"style",
	"template",
	"noscript",
	"svg",
	"head",
	"iframe",
	"object",
	"canvas",
	"rp",
	"rt",
	"datalist",
]);
const BLOCKS = new Set([
	"html",
	"body",
	"main",
	"div",
	"section",
	"article",
	"header",
	"footer",
	"nav",
	"aside",
	"p",
	"h1",
	"h2",
	"h3",
	"h4",
	"h5",
	"h6",
	"ul",
	"ol",
	"li",
	"dl",
	"dt",
	"dd",
	"table",
	"blockquote",
	"pre",
	"figure",
	"figcaption",
	"form",
	"fieldset",
	"legend",
	"address",
	"details",
	"summary",
	"hr",
	"center",
	"caption",
	"title",
]);

/** Converts a page to Markdown: its title if no heading repeats it, then the visible content. */
export function htmlToMarkdown(html: string): string {
	const root = parseHtml(html);
	const body = descendants(root, "body")[0] ?? root;
	const [head] = descendants(root, "head");
	const title = oneLine(textOf((head && child(head, "title")) ?? descendants(root, "title")[0]));
	const content = blocks(blockList(body.children, 0));
	const shown = title === "" || content.includes(`# ${title}\n`) || content.endsWith(`# ${title}`);
	return blocks([shown ? "" : heading(1, title), content]);
}

/** Returns the blocks of mixed content: text between blocks is its own paragraph. */
function blockList(nodes: readonly MarkupNode[], listDepth: number): string[] {
	const list: string[] = [];
	let paragraph = "";
	const endParagraph = () => {
		list.push(tidy(paragraph));
		paragraph = "";
	};
	for (const node of nodes) {
		if (typeof node !== "string" && (BLOCKS.has(node.name) || holdsBlocks(node))) {
			endParagraph();
			list.push(...block(node, listDepth));
		} else paragraph += inline(node);
	}
	endParagraph();
	return list;
}

const holdsBlocks = (element: MarkupElement): boolean =>
	!HIDDEN.has(element.name) &&
	element.children.some((node) => typeof node !== "string" && (BLOCKS.has(node.name) || holdsBlocks(node)));

function block(element: MarkupElement, listDepth: number): string[] {
	const { name, children } = element;
	if (HIDDEN.has(name) || hides(element)) return [];
	const level = /^h([1-6])$/.exec(name)?.[1];
	if (level !== undefined) {
		const text = oneLine(children.map(inline).join(""));
		return text === "" ? [] : [heading(Number(level), text)];
	}
	switch (name) {
		case "ul":
		case "ol":
			return listItems(element, listDepth);
		case "table":
			return tableBlocks(element, listDepth);
		case "pre":
			return [fencedBlock(textOf(element))];
		case "blockquote":
			return [quote(blocks(blockList(children, 0)))];
		case "hr":
			return ["---"];
		case "dd":
			return [`: ${blocks(blockList(children, listDepth))}`];
		default:
			return blockList(children, listDepth);
	}
}

function listItems(list: MarkupElement, depth: number): string[] {
	const indent = "  ".repeat(Math.min(8, depth));
	let number = Number(list.attributes.start ?? 1) || 1;
	return list.children.flatMap((node) => {
		if (typeof node === "string") return [];
		if (node.name !== "li") return block(node, depth + 1);
		const mark = list.name === "ol" ? `${number++}.` : "-";
		const [first = "", ...rest] = blockList(node.children, depth + 1).filter((text) => text.trim() !== "");
		if (/^ *(?:[-*]|\d+\.) /.test(first)) return [`${indent}${mark}`, first, ...rest];
		return first === "" ? [] : [`${indent}${mark} ${first.replaceAll("\n", `\n${indent}  `)}`, ...rest];
	});
}

function tableBlocks(element: MarkupElement, listDepth: number): string[] {
	const captions = element.children.flatMap((node) =>
		typeof node !== "string" && node.name === "caption" ? block(node, 0) : [],
	);
	const rows = rowsOf(element);
	const cells = rows.map((row) =>
		row.children.filter((node): node is MarkupElement => typeof node !== "string" && /^t[dh]$/.test(node.name)),
	);
	// A table with one column, or with tables in its cells, is used for layout.
	const layout =
		cells.every((row) => row.length < 2) || cells.some((row) => row.some((cell) => descendants(cell, "table").length > 0));
	if (layout) return [...captions, ...cells.flatMap((row) => row.flatMap((cell) => blockList(cell.children, listDepth)))];
	const texts = cells.map((row) =>
		row.flatMap((cell) => {
			const span = Math.min(64, Number(cell.attributes.colspan ?? 1) || 1);
			const text = blocks(blockList(cell.children, 0)).replaceAll(/\n+/g, "\n");
			return [text, ...Array<string>(Math.max(0, span - 1)).fill("")];
		}),
	);
	return [...captions, table(texts)];
}

function rowsOf(element: MarkupElement): MarkupElement[] {
	return element.children.flatMap((node) =>
		typeof node === "string" ? [] : node.name === "tr" ? [node] : /^t(head|body|foot)$/.test(node.name) ? rowsOf(node) : [],
	);
}

function inline(node: MarkupNode): string {
	if (typeof node === "string") return node.replaceAll(/\s+/g, " ");
	const { name, attributes, children } = node;
	if (HIDDEN.has(name) || hides(node)) return "";
	if (name === "br") return "\n";
	if (name === "img") return attributes.alt ? `![${oneLine(attributes.alt)}]` : "";
	if (name === "input") return attributes.type === "hidden" ? "" : (attributes.value ?? "");
	const text = children.map(inline).join("");
	if (name === "a") return link(text, attributes.href);
	if (name === "code" && text.trim() !== "" && !text.includes("`")) return `\`${text.trim()}\``;
	return text;
}

const hides = ({ attributes }: MarkupElement): boolean =>
	attributes.hidden !== undefined || /display\s*:\s*none/i.test(attributes.style ?? "");

function fencedBlock(text: string): string {
	const runs = [...text.matchAll(/`+/g)].map(([run]) => run.length);
	const fence = "`".repeat(Math.max(3, runs.reduce((most, length) => Math.max(most, length), 0) + 1));
	return text.trim() === "" ? "" : `${fence}\n${text.replace(/^\n/, "").replace(/\s+$/, "")}\n${fence}`;
}

const tidy = (text: string): string =>
	text
		.replaceAll(/[^\S\n]+/g, " ")
		.replaceAll(/ ?\n ?/g, "\n")
		.trim();
