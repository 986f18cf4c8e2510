import { DocumentFault } from "../document-fault.ts";
import { MAX_PAGES } from "../limits.ts";
import { blocks, heading, oneLine, quote } from "../markdown.ts";
import { attribute, child, descendants, elements, prefixed, textOf } from "../markup/markup-tree.ts";
import { partWords, type Shape, shapesOf } from "./drawing-text.ts";
import { mainPart, neededPart, partRoot, type Relation, relationsOf, targetsOf } from "./ooxml-package.ts";
import type { PackageParts } from "./package-parts.ts";

/** Numbers, dates and footers that repeat on every slide. */
const REPEATED = /^(sldNum|dt|ftr|hdr|sldImg)$/;

/**
 * Converts a presentation (ECMA-376 part 1, 19) to Markdown: a heading for each slide in order, its shapes, notes and comments.
 */
export function pptxToMarkdown(zip: PackageParts): string {
	const main = mainPart(zip);
	const relations = relationsOf(zip, main);
	const root = partRoot(zip, main);
	const list = root === null ? undefined : child(root, "sldIdLst");
	const slides = list === undefined ? [] : elements(list).flatMap((id) => relations.get(prefixed(id, "id") ?? "")?.target ?? []);
	if (slides.length > MAX_PAGES) throw new DocumentFault("too-large", `The file has more than ${MAX_PAGES} slides`);
	const authors = authorsOf(zip, relations);
	const repeated: Repeated = { footers: new Set(), layouts: new Set() };
	const shown = slides.map((slide, index) => slideToMarkdown(zip, slide, index + 1, authors, repeated));
	return blocks([...shown, ...footersOf(zip, repeated)]);
}

/** Content that slides share. */
interface Repeated {
	readonly footers: Set<string>;
	/** The layouts of the slides. */
	readonly layouts: Set<string>;
}

/** Returns the footers of the slides, layouts and masters, each once. */
function footersOf(zip: PackageParts, { footers, layouts }: Repeated): string[] {
	const masters = new Set<string>();
	const read = (name: string) => {
		const root = partRoot(zip, name);
		const [tree] = root === null ? [] : descendants(root, "spTree");
		if (tree !== undefined)
			addFooters(
				shapesOf(tree, () => undefined),
				footers,
			);
	};
	for (const layout of layouts) {
		read(layout);
		for (const master of targetsOf(relationsOf(zip, layout), "slideMaster")) masters.add(master);
	}
	for (const master of masters) read(master);
	return [...footers];
}

/** LibreOffice's placeholder text. */
const PROMPT = /^(<.*>|Footer)$/;

function addFooters(shapes: readonly Shape[], footers: Set<string>): void {
	for (const { placeholder, blocks } of shapes)
		if (placeholder === "ftr") for (const block of blocks) if (!PROMPT.test(block)) footers.add(block);
}

function slideToMarkdown(
	zip: PackageParts,
	name: string,
	number: number,
	authors: ReadonlyMap<string, string>,
	repeated: Repeated,
): string {
	const root = neededPart(zip, name);
	const relations = relationsOf(zip, name);
	const linkOf = (id: string) => relations.get(id)?.target;
	const [tree] = descendants(root, "spTree");
	const shapes = tree === undefined ? [] : shapesOf(tree, linkOf);
	addFooters(shapes, repeated.footers);
	for (const layout of targetsOf(relations, "slideLayout")) repeated.layouts.add(layout);
	const titles = shapes.filter(({ placeholder }) => /title/i.test(placeholder) && placeholder !== "subTitle");
	const title = oneLine(titles.flatMap((shape) => shape.blocks).join(" "));
	const hidden = root.attributes.show === "0" ? " (hidden)" : "";
	const rest = shapes.filter((shape) => !titles.includes(shape) && !REPEATED.test(shape.placeholder));
	return blocks([
		heading(2, `Slide ${number}${hidden}${title === "" ? "" : `: ${title}`}`),
		...rest.flatMap((shape) => [
			...shape.blocks,
			...shape.parts.flatMap((id) => {
				const part = relations.get(id);
				const words = part === undefined ? null : partRoot(zip, part.target);
				return words === null ? [] : [partWords(words).join("\n")];
			}),
		]),
		...notes(zip, relations),
		...comments(zip, relations, authors),
	]);
}

function notes(zip: PackageParts, relations: ReadonlyMap<string, Relation>): string[] {
	return targetsOf(relations, "notesSlide").flatMap((name) => {
		const [tree] = descendants(neededPart(zip, name), "spTree");
		if (tree === undefined) return [];
		const inner = relationsOf(zip, name);
		const shapes = shapesOf(tree, (id) => inner.get(id)?.target).filter(({ placeholder }) => !REPEATED.test(placeholder));
		const text = shapes.flatMap((shape) => shape.blocks.map((block) => block.replace(/^ *- /, ""))).join("\n");
		return text === "" ? [] : [quote(`Notes: ${text}`)];
	});
}

/** Returns comments of both forms: `text` beside an author's number, and the newer one with a text body. */
function comments(zip: PackageParts, relations: ReadonlyMap<string, Relation>, authors: ReadonlyMap<string, string>): string[] {
	return targetsOf(relations, "comments").flatMap((name) => {
		return elements(neededPart(zip, name)).flatMap((comment) => {
			const plain = child(comment, "text");
			const text = plain === undefined ? partWords(comment).join(" ") : textOf(plain);
			const author = authors.get(attribute(comment, "authorId") ?? "");
			return text.trim() === "" ? [] : [quote(`Comment${author ? ` by ${author}` : ""}: ${text}`)];
		});
	});
}

function authorsOf(zip: PackageParts, relations: ReadonlyMap<string, Relation>): Map<string, string> {
	const authors = new Map<string, string>();
	for (const type of ["commentAuthors", "authors"])
		for (const name of targetsOf(relations, type)) {
			const root = partRoot(zip, name);
			for (const { attributes } of root === null ? [] : elements(root)) authors.set(attributes.id ?? "", attributes.name ?? "");
		}
	return authors;
}
