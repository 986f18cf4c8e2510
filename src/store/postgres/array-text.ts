/** Array parameters as PostgreSQL reads them (https://www.postgresql.org/docs/current/arrays.html, 8.15.6). */

/**
 * Returns the text of an array. That of JSON differs in its brackets and escapes alone, and is built by native code: a
 * batch has tens of thousands of values.
 */
export function arrayText(values: readonly (string | number | bigint | null)[]): string {
	const json = values.some((value) => typeof value === "bigint") ? null : JSON.stringify(values);
	if (json !== null && !json.includes("\\")) return `{${json.slice(1, -1)}}`;
	return `{${values.map((value) => (typeof value === "string" ? quoted(value) : String(value))).join(",")}}`;
}

function quoted(text: string): string {
	return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
