/**
 * Reads web pages as Markdown. Only hosts of the public internet are reached (public-fetch), and robots.txt is obeyed. Hostile
 * pages and rules run in a child process. A site's own Markdown is preferred. A fault says why there is no text.
 */
export { checkPages } from "./check.ts";
export { Chromium, type ChromiumOptions } from "./chromium.ts";
export { PagePool, type PagePoolOptions } from "./page-pool.ts";
export { type ScriptedPages, WebPageReader, type WebPageReaderOptions, type WebPageSettings } from "./page-reader.ts";
export { PageFault, type PageReader, type WebPage } from "./port.ts";
