/** The limits of one file: docs/documents.md, Limits. */

/** Parts of a zip file. */
export const MAX_ZIP_ENTRIES = 20_000;
/** Limit for all text parts, as declared and as inflated. */
export const MAX_INFLATED_BYTES = 200 * 2 ** 20;
/** Past this size a part may be at most `MAX_RATIO` times its packed size. */
export const RATIO_FREE_BYTES = 16 * 2 ** 20;
export const MAX_RATIO = 250;
export const MAX_XML_DEPTH = 256;
export const MAX_HTML_DEPTH = 200;
export const MAX_NODES = 4_000_000;
export const MAX_PAGES = 3_000;
export const MAX_SHEETS = 500;
export const MAX_CELLS = 2_000_000;
/** The number of characters that a file may give. */
export const MAX_TEXT_CHARS = 50_000_000;
/** The number of a mail's attachments that are read; also how deep nested mails are followed. */
export const MAX_ATTACHMENTS = 50;
export const MAX_MAIL_DEPTH = 3;
