/** Returns true if the caller prefers CSV to JSON (RFC 9110, 12.5.1): only if it names `text/csv`. */
export function wantsCsv(accept: string | null): boolean {
	if (accept === null) return false;
	let csv = 0;
	let json = 0;
	let firstNamed: "csv" | "json" | null = null;
	for (const range of accept.toLowerCase().split(",")) {
		const [type, ...parameters] = range.split(";").map((part) => part.trim());
		const quality = qualityOf(parameters);
		if (type === "text/csv") csv = Math.max(csv, quality);
		else if (type === "application/json") json = Math.max(json, quality);
		else continue;
		firstNamed ??= type === "text/csv" ? "csv" : "json";
	}
	return csv > json || (csv > 0 && csv === json && firstNamed === "csv");
}

function qualityOf(parameters: readonly string[]): number {
	const weight = parameters.find((parameter) => parameter.startsWith("q="));
	if (weight === undefined) return 1;
	const quality = Number(weight.slice(2));
	return quality >= 0 && quality <= 1 ? quality : 0;
}
