import type { RpcCatalog, RpcNetwork } from "./types.ts";

/** Longer names are no misspelled slug. */
const MAX_NAME_LENGTH = 40;
/** Edits between a slug and a name that is still taken for it. */
const MAX_EDITS = 2;
/** What callers say for a main network. */
const MAINNET_WORDS = new Set(["", "main", "mainnet", "one", "live", "prod", "production"]);

/**
 * Returns the offered network that a name which is no slug probably means, by its chain id (`8453`, `0x2105`), its
 * family (`eth`, `matic`), the order of its words (`mainnet-base`) or its spelling; null where none is near.
 */
export function nearestNetwork(
	name: string,
	catalog: Pick<RpcCatalog, "networks" | "optionalNetworks" | "familyAliases">,
	offered: readonly string[],
): string | null {
	if (name.length > MAX_NAME_LENGTH) return null;
	const networks = offered.flatMap((slug) => catalog.networks.get(slug) ?? catalog.optionalNetworks.get(slug) ?? []);
	const words = wordsOf(name);
	return (
		byChainId(name, networks) ??
		byFamily(words, networks, catalog.familyAliases) ??
		bySpelling(
			words.join("-"),
			networks.map(({ slug }) => slug),
		)
	);
}

/** `Base_Mainnet`, `baseMainnet` and `base mainnet` have the same two words. */
function wordsOf(name: string): string[] {
	const spaced = name.replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
	return spaced.split(/[^a-z0-9]+/).filter((word) => word !== "");
}

function byChainId(name: string, networks: readonly RpcNetwork[]): string | null {
	if (!/^(0x[0-9a-f]{1,16}|[1-9][0-9]{0,15})$/i.test(name)) return null;
	const hex = `0x${BigInt(name).toString(16)}`;
	return networks.find(({ chainIdHex }) => chainIdHex === hex)?.slug ?? null;
}

/** A family by its name or an alias, and beside it which of its networks: none is the main one. A network's bare name is Ethereum's. */
function byFamily(
	words: readonly string[],
	networks: readonly RpcNetwork[],
	aliases: ReadonlyMap<string, string>,
): string | null {
	const families = new Set(networks.map(({ family }) => family));
	const familyOf = (word: string) => (families.has(word) ? word : aliases.get(word));
	const at = words.findIndex((word) => familyOf(word) !== undefined);
	const family = at === -1 ? "ethereum" : familyOf(words[at] ?? "");
	const rest = words.filter((_, index) => index !== at).join("-");
	if (at === -1 && rest === "") return null;
	const found = networks.find((network) => network.family === family && isMeant(network, rest));
	return found?.slug ?? null;
}

function isMeant({ slug, kind }: RpcNetwork, rest: string): boolean {
	return kind === "mainnet" ? MAINNET_WORDS.has(rest) : rest === slug.slice(slug.indexOf("-") + 1);
}

function bySpelling(name: string, slugs: readonly string[]): string | null {
	let best: { readonly slug: string; readonly edits: number } | null = null;
	for (const slug of slugs) {
		const edits = editDistance(name, slug);
		if (edits <= MAX_EDITS && (best === null || edits < best.edits)) best = { slug, edits };
	}
	return best?.slug ?? null;
}

/** Letters put in, left out or changed, and neighbours that changed places (optimal string alignment). */
function editDistance(a: string, b: string): number {
	let before: number[] = [];
	let row = Array.from({ length: b.length + 1 }, (_, index) => index);
	for (let i = 1; i <= a.length; i++) {
		const next = [i];
		for (let j = 1; j <= b.length; j++) {
			const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
			const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
			next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, swapped ? (before[j - 2] ?? 0) + 1 : changed));
		}
		[before, row] = [row, next];
	}
	return row[b.length] ?? 0;
}
