/** Escapes text of callers, upstreams and chains so that it cannot control the terminal or leave its line. */

/** Control characters (C0, DEL, C1), line and paragraph separators, and text direction controls. */
const DRIVING = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** Escapes such characters as in JSON (`\u001b`). With `lines`, line breaks and tabs stay. */
export function forTerminal(text: string, keep: "nothing" | "lines" = "nothing"): string {
	return text.replace(DRIVING, (character) =>
		keep === "lines" && /[\n\t]/.test(character) ? character : escapeCharacter(character),
	);
}

/** Returns equivalent JSON with escapes for those characters that JSON allows as they are. Its own line breaks stay. */
export function forTerminalJson(json: string): string {
	return forTerminal(json, "lines");
}

function escapeCharacter(character: string): string {
	return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
