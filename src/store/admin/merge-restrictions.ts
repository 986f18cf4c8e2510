import type { KeyRestrictions } from "../types.ts";

const NONE: KeyRestrictions = { models: null, endpoints: null, networks: null, addresses: null };

/** Merges rules: given ones replace, null clears, the others stay. Returns null where no rule is left. */
export function mergeRestrictions(
	before: KeyRestrictions | null,
	changes: Partial<KeyRestrictions> | null,
): KeyRestrictions | null {
	if (changes === null) return null;
	const rules = { ...NONE, ...before, ...changes };
	return Object.values(rules).some((rule) => rule !== null) ? rules : null;
}
