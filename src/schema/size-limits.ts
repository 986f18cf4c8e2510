import type { Issue } from "../errors/index.ts";

/** The type that a keyword limits, and the side that it limits. */
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

/**
 * Returns the code of a length or range issue with its limit, in the form of DetailedError; null for other keywords.
 */
export function sizeLimits(keyword: string, limit: unknown): Omit<Issue, "path" | "message"> | null {
	const bound = BOUNDS[keyword];
	if (bound === undefined || typeof limit !== "number") return null;
	const [type, side, inclusive] = bound;
	return { code: side === "minimum" ? "too_small" : "too_big", [side]: limit, type, inclusive };
}
