import { ApiError } from "../../errors/index.ts";

/** What people call chains whose networks have another name here. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
	arb: "arbitrum",
	arb1: "arbitrum",
	avax: "avalanche",
	binance: "bsc",
	bnb: "bsc",
	eth: "ethereum",
	mainnet: "ethereum",
	matic: "polygon",
	op: "optimism",
	sepolia: "ethereum",
};
/** Shorter beginnings mean nothing. */
const MIN_BEGINNING = 3;
const MAX_LENGTH = 64;

/** The refusal of a network that is not here, with those that were probably meant. */
export function unsupportedNetwork(slug: string, networks: readonly string[]): ApiError {
	const near = slug.length > MAX_LENGTH ? [] : nearNetworks(slug, networks);
	if (near.length === 0) return new ApiError("RPC_NETWORK_UNSUPPORTED");
	return new ApiError("RPC_NETWORK_UNSUPPORTED", { message: `Unsupported RPC network; call ${near.join(" or ")}` });
}

/** Networks of the chain that the name begins with; of the net that it ends with, where the chain has that. */
function nearNetworks(slug: string, networks: readonly string[]): string[] {
	const words = slug
		.toLowerCase()
		.split(/[^a-z0-9]+/)
		.filter((word) => word !== "");
	const first = words[0] ?? "";
	const chain = Object.hasOwn(OTHER_NAMES, first) ? (OTHER_NAMES[first] ?? first) : first;
	if (chain.length < MIN_BEGINNING) return [];
	const ofChain = networks.filter((network) => {
		const [family = ""] = network.split("-");
		return family.startsWith(chain) || chain.startsWith(family);
	});
	const net = words.at(-1) ?? "";
	const ofNet = ofChain.filter((network) => network.split("-").slice(1).join("-").startsWith(net.slice(0, 4)));
	return ofNet.length > 0 ? ofNet : ofChain;
}
