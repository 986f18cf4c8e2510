import type { RpcNetwork } from "../../catalog/rpc/types.ts";
import type { TimerClock } from "../../telemetry/timer-clock.ts";
import type { Fetch } from "../fetch.ts";
import { blockNumberOf, callForJson } from "./call-for-json.ts";
import type { RpcMember } from "./member.ts";
import type { ReportedHeads } from "./network-heads.ts";

/** The chain that a server reports. `silent`: it did not answer as a node does. */
export type ChainCheck =
	| { readonly kind: "right" }
	| { readonly kind: "wrong"; readonly got: string }
	| { readonly kind: "silent" };

/** Requests a server's chain id and newest block. A server that has no block is not used yet. */
export async function checkChain(fetch: Fetch, clock: TimerClock, member: RpcMember, network: RpcNetwork): Promise<ChainCheck> {
	const prefix = prefixOf(network);
	const tell = (name: string) => callForJson({ fetch, clock, member, method: `${prefix}_${name}`, params: [], fresh: true });
	try {
		const id = hexOf(await tell("chainId"));
		if (id === null) return { kind: "silent" };
		if (network.chainIdHex !== null && id !== hexOf(network.chainIdHex)) return { kind: "wrong", got: id };
		const block = blockNumberOf(await tell("blockNumber"));
		if (block === null) return { kind: "silent" };
		member.state.reached = block;
		return { kind: "right" };
	} catch {
		return { kind: "silent" };
	}
}

/**
 * Requests a server's heads, and again a block that was final before, if one is passed for comparison. Never throws.
 * Values that the server does not report are null.
 */
export async function readHeads(
	fetch: Fetch,
	clock: TimerClock,
	member: RpcMember,
	network: RpcNetwork,
	toAskAgain: (finalized: number) => number | null,
): Promise<ReportedHeads> {
	const ask = async (method: string, params: readonly unknown[]): Promise<unknown> => {
		try {
			return await callForJson({ fetch, clock, member, method, params, fresh: false });
		} catch {
			return null;
		}
	};
	// Starknet has no tag for final blocks.
	const isEvm = network.vm === "evm";
	const block = async (named: string) => readBlock(await ask("eth_getBlockByNumber", [named, false]));
	const final = async (): Promise<Omit<ReportedHeads, "latest">> => {
		const last = await block("finalized");
		const { number: finalized, hash } = last;
		const before = finalized === null ? null : toAskAgain(finalized);
		if (before === null) return { finalized, hash, again: null };
		const now = finalized === before ? last : await block(`0x${before.toString(16)}`);
		return { finalized, hash, again: now.number === before && now.hash !== null ? { block: before, hash: now.hash } : null };
	};
	const [latest, finalHead] = await Promise.all([
		ask(`${prefixOf(network)}_blockNumber`, []),
		isEvm ? final() : { finalized: null, hash: null, again: null },
	]);
	return { latest: blockNumberOf(latest), ...finalHead };
}

function readBlock(block: unknown): { readonly number: number | null; readonly hash: string | null } {
	const { number = null, hash = null } = (block ?? {}) as { readonly number?: unknown; readonly hash?: unknown };
	return { number: blockNumberOf(number), hash: typeof hash === "string" ? hash : null };
}

function prefixOf({ vm }: RpcNetwork): string {
	return vm === "starknet" ? "starknet" : "eth";
}

/** Returns hex text without leading zeros and in lower case; null for anything else. */
function hexOf(value: unknown): string | null {
	if (typeof value !== "string" || !/^0x[0-9a-f]{1,64}$/i.test(value)) return null;
	return `0x${value
		.slice(2)
		.replace(/^0+(?=.)/, "")
		.toLowerCase()}`;
}
