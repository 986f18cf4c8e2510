import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import { htmlToMarkdown } from "../documents/markup/html-to-markdown.ts";
import { articleMarkdown } from "./article-markdown.ts";
import { isOrdinary, isOrdinaryTree } from "./html-shape.ts";
import type { ReadPage } from "./page-work.ts";

/** Larger pages are lists and logs rather than articles: they are taken whole, which takes a tenth of the memory. */
const MAX_ARTICLE_CHARS = 3_000_000;
/** A page with less text than this, and with scripts, may have its text from them. */
const FEW_CHARS = 200;
/** An article that has a smaller share of the page's text is a part that only looks like one. */
const ARTICLE_SHARE = 0.25;

/**
 * A page of HTML as Markdown under its title: its article where it has one, else all that a reader would see. What a page
 * hides from readers is left out in both.
 */
export function readHtml(written: string, url: string): ReadPage {
	const html = withBody(written);
	const whole = htmlToMarkdown(html);
	const article = html.length <= MAX_ARTICLE_CHARS && isOrdinary(html) ? articleOf(html, url) : null;
	const useful = article !== null && article.content.length >= whole.length * ARTICLE_SHARE;
	const shown = useful ? titled(article.title, article.content) : whole;
	const content = shown === `# ${article?.title}` ? "" : shown;
	return {
		title: article?.title ?? "",
		content,
		date: article?.date ?? "",
		markdownUrl: article?.markdownUrl ?? null,
		needsScripts: content.length < FEW_CHARS && /<script[\s>]/i.test(html),
	};
}

interface Article {
	readonly title: string;
	readonly content: string;
	readonly date: string;
	readonly markdownUrl: string | null;
}

/** Null where the parts that look for an article stumble over the page. */
function articleOf(html: string, url: string): Article | null {
	try {
		const { document } = parseHTML(html);
		if (!isOrdinaryTree(document.documentElement)) return null;
		const base = baseOf(document.querySelector("base")?.getAttribute("href"), url);
		setBase(document, base);
		const link = document.querySelector('link[rel~="alternate"][type="text/markdown"]')?.getAttribute("href");
		const markdownUrl = link ? (URL.parse(link, base)?.href ?? null) : null;
		const title = oneLine(document.querySelector("title")?.textContent ?? "");
		const article = new Readability(document, { keepClasses: true }).parse();
		return {
			title: oneLine(article?.title ?? "") || title,
			content: articleMarkdown(article?.content ?? ""),
			date: article?.publishedTime ?? "",
			markdownUrl,
		};
	} catch {
		return null;
	}
}

/** The parser takes tags as they are written, and pages may leave out those around all others (WHATWG HTML, 13.1.2.4). */
function withBody(html: string): string {
	if (/<body[\s>]/i.test(html)) return html;
	if (/<\/head\s*>/i.test(html)) return html.replace(/<\/head\s*>/i, "</head><body>");
	const inside = html.replace(/^\s*(<!doctype[^>]*>)?\s*(<html[^>]*>)?/i, "");
	const [title = ""] = /<title[\s>][\s\S]*?<\/title\s*>/i.exec(inside) ?? [];
	return `<html><head>${title}</head><body>${inside.replace(title, () => "")}`;
}

const baseOf = (href: string | null | undefined, url: string): string => (href ? (URL.parse(href, url)?.href ?? url) : url);

/** What completes relative links: the document has no address of its own. */
function setBase(document: ReturnType<typeof parseHTML>["document"], href: string): void {
	for (const old of document.querySelectorAll("base")) old.remove();
	const base = document.createElement("base");
	base.setAttribute("href", href);
	document.head.prepend(base);
}

function titled(title: string, content: string): string {
	const begins = /^#{1,2} (.*)/.exec(content)?.[1];
	if (title === "" || begins === title) return content;
	return `# ${title}\n\n${content}`;
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();
