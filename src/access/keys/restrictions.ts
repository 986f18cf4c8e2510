import { isIP } from "node:net";
import { invalidField } from "../../schema/index.ts";
import type { KeyRestrictions } from "../../store/port.ts";

/** The names that the rules of a key may use. */
export interface RuleNames {
	readonly endpoints: ReadonlySet<string>;
	/** All known networks, including disabled ones. */
	readonly networks: ReadonlySet<string>;
}

/**
 * Checks restrictions beyond their schema.
 * @throws 400 naming the entry
 */
export function checkRestrictions(rules: Partial<KeyRestrictions>, names: RuleNames): void {
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
			if (!names[kind].has(name))
				throw invalidField(["restrictions", kind, index], `must be one of ${[...names[kind]].join(", ")}`);
}

/** Returns true for an IP address, or an address with a prefix length in bits behind a slash. */
function isAddressOrRange(text: string): boolean {
	const [address = "", prefix, ...rest] = text.split("/");
	const version = address.includes("%") ? 0 : isIP(address);
	if (version === 0 || rest.length > 0) return false;
	return prefix === undefined || (/^(0|[1-9]\d{0,2})$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
}
