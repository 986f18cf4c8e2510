import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import { htmlToMarkdown } from "../documents/markup/html-to-markdown.ts";
import { articleMarkdown } from "./article-markdown.ts";
import { isOrdinary, isOrdinaryTree } from "./html-shape.ts";
import type { ReadPage } from "./page-work.ts";

/** Larger pages are lists and logs rather than articles: they are converted as a whole, which takes a tenth of the memory. */
const MAX_ARTICLE_CHARS = 3_000_000;
/** A page with less text than this, and with scripts, may create its text by them. */
const FEW_CHARS = 200;
/** An article with a smaller share of the page's text is probably not the article. */
const ARTICLE_SHARE = 0.25;

/**
 * Converts an HTML page to Markdown under its title: its article if it has one, otherwise all visible text. Hidden parts are
 * left out of both.
 */
export function readHtml(written: string, url: string): ReadPage {
	const html = withBody(written);
	const whole = htmlToMarkdown(html);
	const article = html.length <= MAX_ARTICLE_CHARS && isOrdinary(html) ? articleOf(html, url) : null;
	const useful = article !== null && article.content.length >= whole.length * ARTICLE_SHARE;
	const shown = useful ? withTitle(article.title, article.content) : whole;
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

/** Returns the article; null if the libraries fail on the page. */
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

/** Adds the outer tags, which pages may leave out (WHATWG HTML, 13.1.2.4) and the parser needs. */
function withBody(html: string): string {
	if (/<body[\s>]/i.test(html)) return html;
	if (/<\/head\s*>/i.test(html)) return html.replace(/<\/head\s*>/i, "</head><body>");
	const inside = html.replace(/^\s*(<!doctype[^>]*>)?\s*(<html[^>]*>)?/i, "");
	const [title = ""] = /<title[\s>][\s\S]*?<\/title\s*>/i.exec(inside) ?? [];
	return `<html><head>${title}</head><body>${inside.replace(title, () => "")}`;
}

const baseOf = (href: string | null | undefined, url: string): string => (href ? (URL.parse(href, url)?.href ?? url) : url);

/** Sets the base of relative links, because the document has no address of its own. */
function setBase(document: ReturnType<typeof parseHTML>["document"], href: string): void {
	for (const old of document.querySelectorAll("base")) old.remove();
	const base = document.createElement("base");
	base.setAttribute("href", href);
	document.head.prepend(base);
}

function withTitle(title: string, content: string): string {
	const begins = /^#{1,2} (.*)/.exec(content)?.[1];
	if (title === "" || begins === title) return content;
	return `# ${title}\n\n${content}`;
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();
