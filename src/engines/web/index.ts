/**
 * Pages of the web as Markdown. Promises: only hosts of the public internet are reached (public-fetch); what a site's
 * robots.txt forbids is not read; hostile pages and rules take a child process, never the server; the site's own Markdown
 * goes first; a fault says why there is no text.
 */
export { checkPages } from "./check.ts";
export { Chromium, type ChromiumOptions } from "./chromium.ts";
export { PagePool, type PagePoolOptions } from "./page-pool.ts";
export { type ScriptedPages, WebPageReader, type WebPageReaderOptions, type WebPageSettings } from "./page-reader.ts";
export { PageFault, type PageReader, type WebPage } from "./port.ts";
