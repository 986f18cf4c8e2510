import type { Answer } from "../../server/endpoint.ts";
import type { RpcNetworkStatus } from "../../upstreams/rpc/upstreams.ts";
import type { ConsoleApiDeps } from "./deps.ts";
import { answer } from "./page.ts";
import type { NetworkRow, Networks, NetworkUpstream } from "./types.ts";

/** Maximum number of skus: more than any server has. */
const MAX_SKUS = 20_000;
const CREDITS = /^crypto-rpc-(.+)-credit$/;

/** GET /networks: those with upstreams first. */
export async function networks({ chains, chainCache, rpcCatalog, reader }: ConsoleApiDeps): Promise<Answer> {
	const today = reader.today();
	const credits = new Map<string, number>();
	for (const { sku, units } of await reader.usage({ firstDay: today, lastDay: today, by: ["sku"], limit: MAX_SKUS })) {
		const network = CREDITS.exec(sku ?? "")?.[1];
		if (network !== undefined) credits.set(network, units);
	}
	const running = new Map(chains.snapshot().map((status) => [status.network, status]));
	const slugs = new Set([...running.keys(), ...rpcCatalog.networks.keys(), ...credits.keys()]);
	const { hits, misses, shared, entries, bytes } = chainCache();
	return answer<Networks>({
		networks: [...slugs].map((slug) =>
			networkRow(slug, running.get(slug), chains.heads.finality(slug)?.block, credits.get(slug) ?? 0),
		),
		cache: { hits, misses, shared, entries, bytes, hitRatio: hits + misses === 0 ? null : hits / (hits + misses) },
	});
}

function networkRow(
	network: string,
	status: RpcNetworkStatus | undefined,
	final: number | undefined,
	creditsToday: number,
): NetworkRow {
	const upstreams = status?.upstreams ?? [];
	const reached = upstreams.flatMap((upstream) => (upstream.reached === null ? [] : [upstream.reached]));
	const head = reached.length === 0 ? null : Math.max(...reached);
	return {
		network,
		name: network.charAt(0).toUpperCase() + network.slice(1).replaceAll("-", " "),
		online: status?.online ?? false,
		head,
		finalBlock: final === undefined || final < 0 ? null : final,
		creditsToday,
		upstreams: upstreams.map(
			(upstream): NetworkUpstream => ({
				...upstream,
				lag: head === null || upstream.reached === null ? null : head - upstream.reached,
			}),
		),
	};
}
