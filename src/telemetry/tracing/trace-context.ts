/** W3C Trace Context (https://www.w3.org/TR/trace-context/): the header `traceparent`, version 00. */
export interface TraceParent {
	/** 32 lower-case hex digits. */
	readonly traceId: string;
	/** 16 lower-case hex digits. */
	readonly spanId: string;
	readonly sampled: boolean;
}

const SHAPE = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Parses a traceparent; null if it is malformed, which counts as no header (3.2.2.5). In a later version only the known
 * fields are read.
 */
export function parseTraceparent(header: string | null): TraceParent | null {
	const [, version, traceId = "", spanId = "", flags = "", rest] = SHAPE.exec(header?.trim() ?? "") ?? [];
	if (version === undefined || version === "ff" || (version === "00" && rest !== undefined)) return null;
	if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
	return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function traceparentOf(traceId: string, spanId: string): string {
	return `00-${traceId}-${spanId}-01`;
}

/** Returns random hex digits, never all zeros. */
export function createId(bytes: 8 | 16): string {
	const id = Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("hex");
	return /^0+$/.test(id) ? createId(bytes) : id;
}
