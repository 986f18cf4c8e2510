/**
 * Parses a day (00:00 UTC) or an instant, like 2026-10-01 or 2026-10-01T12:00:00Z, into Unix milliseconds; undefined if it is
 * neither.
 */
export function instantOf(text: string): number | undefined {
	if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?Z)?$/.test(text)) return undefined;
	const ms = Date.parse(text);
	// The 30th of February does not exist.
	return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text.slice(0, 10)) ? ms : undefined;
}
