import { randomBytes } from "node:crypto";
/** Returns the mark that replaces the rest of the string with this number in the copy: ASCII that needs no escape. */
export function cutMark(index: number): string {
	return `${MARK}${index}${MARK_END}`;
}

/** The mark at the end of each cut string, before its number. Random in each process: no caller can write one. */
export const MARK = `[cut ${randomBytes(16).toString("hex")} `;

export const MARK_END = "]";
