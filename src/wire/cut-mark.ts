import { randomBytes } from "node:crypto";
/** What the copy has in place of the rest of the string with this number: ASCII that needs no escape. */
export function cutMark(index: number): string {
	return `${MARK}${index}${MARK_END}`;
}

/** Stands at the end of each cut string, with its number. Random in each process: no caller can write one. */
export const MARK = `[cut ${randomBytes(16).toString("hex")} `;

export const MARK_END = "]";
