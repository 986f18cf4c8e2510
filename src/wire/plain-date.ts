/**
 * Returns a date from the web as `2025-01-02T03:04:05` in UTC, without a zone; "" if it is no usable date.
 * @param text ISO 8601, or as HTTP and mail write it (RFC 9110, 5.6.7)
 */
export function plainDate(text: string | null | undefined): string {
	const trimmed = text?.trim() ?? "";
	// The runtime's parser would accept words as dates, so a year and a month are required.
	if (!/^\d{4}-\d{2}|^\w{3,9},? .*\d{4}/.test(trimmed)) return "";
	const zoned = /T\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/.test(trimmed) ? `${trimmed}Z` : trimmed;
	const time = Date.parse(zoned);
	if (Number.isNaN(time)) return "";
	const iso = new Date(time).toISOString();
	return /^\d{4}-/.test(iso) ? iso.slice(0, 19) : "";
}
