import { join } from "node:path";
import { checker } from "../../schema/index.ts";
import { CatalogError } from "../catalog-error.ts";
import { checked, readJson } from "../data-file.ts";
import { RpcMethodFileSchema, type RpcNetworkData, RpcNetworkFileSchema } from "./data-schema.ts";
import { MethodTable } from "./method-table.ts";
import type { RpcCatalog, RpcNetwork } from "./types.ts";

const networkFile = checker(RpcNetworkFileSchema);
const methodFile = checker(RpcMethodFileSchema);

/**
 * Reads and validates the networks in `dir` (`catalog/rpc`). Methods are read at the first look-up, so that a server without
 * calls does not hold them in memory.
 * @throws {CatalogError} with the file, the path in it and the expectation
 */
export function loadRpcCatalog(dir: string): RpcCatalog {
	const networks = readNetworks(join(dir, "networks.json"));
	let methods: MethodTable | undefined;
	return {
		...networks,
		resolve(name) {
			methods ??= readMethods(join(dir, "methods.json"));
			return methods.resolve(name);
		},
	};
}

function readNetworks(file: string): Pick<RpcCatalog, "networks" | "optionalNetworks" | "familyAliases"> {
	const data = checked(file, networkFile, readJson(file));
	const networks = new Map<string, RpcNetwork>();
	const optionalNetworks = new Map<string, RpcNetwork>();
	for (const network of data.networks.toSorted((a, b) => (a.slug < b.slug ? -1 : 1))) {
		if (networks.has(network.slug) || optionalNetworks.has(network.slug))
			throw new CatalogError(file, "networks", `"${network.slug}" is there twice`);
		(network.optional ? optionalNetworks : networks).set(network.slug, networkOf(network));
	}
	return { networks, optionalNetworks, familyAliases: new Map(Object.entries(data.familyAliases)) };
}

function networkOf({ slug, family, vm, kind, chainId, baseCredits }: RpcNetworkData): RpcNetwork {
	const chainIdHex = typeof chainId === "number" ? `0x${chainId.toString(16)}` : chainId;
	return { slug, family, vm, kind, chainIdHex, baseCredits };
}

function readMethods(file: string): MethodTable {
	return new MethodTable(file, checked(file, methodFile, readJson(file)));
}
