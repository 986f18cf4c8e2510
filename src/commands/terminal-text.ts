/** Text of callers, upstreams and chains, made so that it drives no terminal and stays in its line. */

/** Controls (C0, DEL, C1), separators of lines and paragraphs, and what turns the direction of text. */
const DRIVING = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** Such characters as JSON writes them (`\u001b`). `lines`: line breaks and tabs stay. */
export function forTerminal(text: string, kept: "nothing" | "lines" = "nothing"): string {
	return text.replace(DRIVING, (character) => (kept === "lines" && /[\n\t]/.test(character) ? character : escaped(character)));
}

/** JSON that means the same, with what JSON leaves as it is written as escapes. Its own line breaks stay. */
export function forTerminalJson(json: string): string {
	return forTerminal(json, "lines");
}

function escaped(character: string): string {
	return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
