import type { Issue } from "../errors/index.ts";

/** What the limit of a keyword is of, and which side it bounds. */
const BOUNDS: Readonly<Record<string, readonly [type: string, side: "minimum" | "maximum", inclusive: boolean]>> = {
	minLength: ["string", "minimum", true],
	maxLength: ["string", "maximum", true],
	minItems: ["array", "minimum", true],
	maxItems: ["array", "maximum", true],
	minimum: ["number", "minimum", true],
	maximum: ["number", "maximum", true],
	exclusiveMinimum: ["number", "minimum", false],
	exclusiveMaximum: ["number", "maximum", false],
};

/** The code of an issue of length or range with its limit, in the form of DetailedError; null for other keywords. */
export function sizeLimits(keyword: string, limit: unknown): Omit<Issue, "path" | "message"> | null {
	const bound = BOUNDS[keyword];
	if (bound === undefined || typeof limit !== "number") return null;
	const [type, side, inclusive] = bound;
	return { code: side === "minimum" ? "too_small" : "too_big", [side]: limit, type, inclusive };
}
