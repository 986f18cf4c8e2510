/** A text as a header's value: printable ASCII, anything else a question mark. */
export function headerText(text: string): string {
	return text.replace(/[^\x20-\x7e]/g, "?");
}
