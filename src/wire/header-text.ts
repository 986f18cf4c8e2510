/** Returns a text as a header's value: printable ASCII, with question marks for other characters. */
export function headerText(text: string): string {
	return text.replace(/[^\x20-\x7e]/g, "?");
}
