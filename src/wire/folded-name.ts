/**
 * Returns the name as the loosest JSON readers compare it: without case, by Unicode's folding (the Kelvin sign is a
 * `k`, the long s an `s`; the capital I with a dot an `i`, as simple mappings have it), and only up to a NUL, where
 * readers written in C end it.
 * Sources: Go's encoding/json, Unmarshal ("preferring an exact match but also accepting a case-insensitive match");
 * cJSON's cJSON_GetObjectItem; Java's String.equalsIgnoreCase.
 */
export function foldedName(name: string): string {
	const end = name.indexOf("\0");
	return (end < 0 ? name : name.slice(0, end)).toUpperCase().replaceAll("\u0130", "I").toLowerCase();
}
