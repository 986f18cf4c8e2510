import type { KeyRestrictions } from "../port.ts";

const NONE: KeyRestrictions = { models: null, endpoints: null, networks: null, addresses: null };

/** The given rules replace, null clears, the others stay. null where no rule is left. */
export function mergeRestrictions(
	before: KeyRestrictions | null,
	changes: Partial<KeyRestrictions> | null,
): KeyRestrictions | null {
	if (changes === null) return null;
	const rules = { ...NONE, ...before, ...changes };
	return Object.values(rules).some((rule) => rule !== null) ? rules : null;
}
