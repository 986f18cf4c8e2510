import Type, { type TString, type TStringOptions } from "typebox";

const RULES = new Map<string, string>();

/**
 * A text of a form that a pattern tells to programs, and a rule to people: a value that does not match is refused with
 * the rule, as in `must be digits with at most 9 places`.
 */
export function patternedText(pattern: string, rule: string, options: TStringOptions = {}): TString {
	RULES.set(pattern, rule);
	return Type.String({ pattern, ...options });
}

/** The rule of a pattern in words; undefined where nobody gave one. */
export const ruleOf = (pattern: string): string | undefined => RULES.get(pattern);
