import { editDistance } from "../../wire/edit-distance.ts";
import type { RpcCatalog, RpcNetwork } from "./types.ts";

/** A longer name is not a misspelled slug. */
const MAX_NAME_LENGTH = 40;
/** The most edits between a slug and a misspelling of it. */
const MAX_EDITS = 2;
/** Callers' words for a main network. */
const MAINNET_WORDS = new Set(["", "main", "mainnet", "one", "live", "prod", "production"]);

/**
 * Returns the offered network that an unknown name probably means: by its chain id (`8453`, `0x2105`, `eip155:8453`), family
 * (`eth`, `matic`), word order (`mainnet-base`) or spelling. null if none is near.
 */
export function nearestNetwork(
	name: string,
	catalog: Pick<RpcCatalog, "networks" | "optionalNetworks" | "familyAliases">,
	offeredSlugs: readonly string[],
): string | null {
	if (name.length > MAX_NAME_LENGTH) return null;
	const networks = offeredSlugs.flatMap((slug) => catalog.networks.get(slug) ?? catalog.optionalNetworks.get(slug) ?? []);
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

/** Splits a name into words: `Base_Mainnet`, `baseMainnet` and `base mainnet` have the same two. */
function wordsOf(name: string): string[] {
	const spaced = name.replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
	return spaced.split(/[^a-z0-9]+/).filter((word) => word !== "");
}

function byChainId(name: string, networks: readonly RpcNetwork[]): string | null {
	// CAIP-2 writes the chain of an EVM as eip155:8453.
	const id = name.replace(/^eip155[:_-]/i, "");
	if (!/^(0x[0-9a-f]{1,16}|[1-9][0-9]{0,15})$/i.test(id)) return null;
	const hex = `0x${BigInt(id).toString(16)}`;
	return networks.find(({ chainIdHex }) => chainIdHex === hex)?.slug ?? null;
}

/**
 * Finds a family by its name or an alias, and its network by the other words: without any it is the main one. A bare network
 * name means Ethereum's.
 */
function byFamily(
	words: readonly string[],
	networks: readonly RpcNetwork[],
	aliases: ReadonlyMap<string, string>,
): string | null {
	const families = new Set(networks.map(({ family }) => family));
	const familyOf = (word: string) => (families.has(word) ? word : aliases.get(word));
	const familyIndex = words.findIndex((word) => familyOf(word) !== undefined);
	const family = familyIndex === -1 ? "ethereum" : familyOf(words[familyIndex] ?? "");
	const otherWords = words.filter((_, index) => index !== familyIndex).join("-");
	if (familyIndex === -1 && otherWords === "") return null;
	const match = networks.find((network) => network.family === family && isMeant(network, otherWords));
	return match?.slug ?? null;
}

function isMeant({ slug, kind }: RpcNetwork, otherWords: string): boolean {
	return kind === "mainnet" ? MAINNET_WORDS.has(otherWords) : otherWords === slug.slice(slug.indexOf("-") + 1);
}

function bySpelling(name: string, slugs: readonly string[]): string | null {
	let best: { readonly slug: string; readonly edits: number } | null = null;
	for (const slug of slugs) {
		const edits = editDistance(name, slug);
		if (edits <= MAX_EDITS && (best === null || edits < best.edits)) best = { slug, edits };
	}
	return best?.slug ?? null;
}
