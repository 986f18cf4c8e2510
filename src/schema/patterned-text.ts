import Type, { type TString, type TStringOptions } from "typebox";

const RULES = new Map<string, string>();

/** Registers the rule in words for a pattern, wherever it is used. */
export function registerRule(pattern: string, rule: string): void {
	RULES.set(pattern, rule);
}

/**
 * Returns the schema of a text with a pattern for programs and a rule for people. A value that does not match is
 * refused with the rule, as in `must be digits with at most 9 places`.
 */
export function patternedText(pattern: string, rule: string, options: TStringOptions = {}): TString {
	registerRule(pattern, rule);
	return Type.String({ pattern, ...options });
}

/** Returns the rule of a text schema's pattern, for a value that is no text; undefined if it has none. */
export function ruleOfSchema(schema: unknown): string | undefined {
	const { type, pattern } = (schema ?? {}) as { readonly type?: unknown; readonly pattern?: unknown };
	return type === "string" && typeof pattern === "string" ? ruleOf(pattern) : undefined;
}

/** Returns the rule of a pattern in words; undefined if none is registered. */
export const ruleOf = (pattern: string): string | undefined => RULES.get(pattern);
