import { isIP } from "node:net";
import { invalidField } from "../../schema/index.ts";
import type { KeyRestrictions } from "../../store/port.ts";

/** What there is to name in the rules of a key. */
export interface RuleNames {
	readonly endpoints: ReadonlySet<string>;
	/** All that are known, those that are switched off too. */
	readonly networks: ReadonlySet<string>;
}

/** Checks what the schema of restrictions cannot. Throws 400 naming the entry. */
export function checkRestrictions(rules: Partial<KeyRestrictions>, known: RuleNames): void {
	for (const [index, address] of (rules.addresses ?? []).entries())
		if (!isAddressOrRange(address))
			throw invalidField(
				["restrictions", "addresses", index],
				"must be an IP address or a range like 192.0.2.0/24 or 2001:db8::/32",
			);
	for (const [index, model] of (rules.models ?? []).entries())
		if (!model.isWellFormed()) throw invalidField(["restrictions", "models", index], "must be Unicode text");
	for (const kind of ["endpoints", "networks"] as const)
		for (const [index, name] of (rules[kind] ?? []).entries())
			if (!known[kind].has(name))
				throw invalidField(["restrictions", kind, index], `must be one of ${[...known[kind]].join(", ")}`);
}

/** An address, or an address with the length of its prefix in bits behind a slash. */
function isAddressOrRange(text: string): boolean {
	const [address = "", prefix, ...rest] = text.split("/");
	const version = address.includes("%") ? 0 : isIP(address);
	if (version === 0 || rest.length > 0) return false;
	return prefix === undefined || (/^(0|[1-9]\d{0,2})$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
}
