import Type, { type TString, type TStringOptions } from "typebox";

const RULES = new Map<string, string>();

/** Says in words what a pattern takes, wherever it stands. */
export function tellRule(pattern: string, rule: string): void {
	RULES.set(pattern, rule);
}

/**
 * A text of a form that a pattern tells to programs, and a rule to people: a value that does not match is refused with
 * the rule, as in `must be digits with at most 9 places`.
 */
export function patternedText(pattern: string, rule: string, options: TStringOptions = {}): TString {
	tellRule(pattern, rule);
	return Type.String({ pattern, ...options });
}

/** The rule of the pattern of a schema of texts, for a value that is no text; undefined where it has none. */
export function ruleOfSchema(schema: unknown): string | undefined {
	const { type, pattern } = (schema ?? {}) as { readonly type?: unknown; readonly pattern?: unknown };
	return type === "string" && typeof pattern === "string" ? ruleOf(pattern) : undefined;
}

/** The rule of a pattern in words; undefined where nobody gave one. */
export const ruleOf = (pattern: string): string | undefined => RULES.get(pattern);
