import type { RpcNetwork } from "../../catalog/rpc/types.ts";
import { utf8Text } from "../../wire/index.ts";
import type { Clock } from "../clock.ts";
import type { Fetch } from "../connect.ts";
import { ask } from "./exchange.ts";
import type { RpcMember } from "./member.ts";

/** What a server says of its chain. `silent`: it did not answer as a node does. */
export type ChainCheck =
	| { readonly kind: "right" }
	| { readonly kind: "wrong"; readonly got: string }
	| { readonly kind: "silent" };

const PROBE_MS = 5_000;
const NO_PARAMS = new Uint8Array([0x5b, 0x5d]);

/** Asks a server for the id of its chain, and for its newest block: one that has none to tell is not in use yet. */
export async function checkChain(fetch: Fetch, clock: Clock, member: RpcMember, network: RpcNetwork): Promise<ChainCheck> {
	const controller = new AbortController();
	const cancelTimer = clock.after(PROBE_MS, () => controller.abort());
	const tell = async (name: string): Promise<unknown> => {
		const exchange = {
			fetch,
			member,
			requestId: crypto.randomUUID().replaceAll("-", ""),
			signal: controller.signal,
			fresh: true,
		};
		const answer = await ask(exchange, { method: { name }, params: NO_PARAMS });
		if (answer.kind !== "result" || !("value" in answer)) throw new Error("no result");
		return JSON.parse(utf8Text(answer.value, 0, answer.value.length));
	};
	try {
		const prefix = network.vm === "starknet" ? "starknet" : "eth";
		const id = hexOf(await tell(`${prefix}_chainId`));
		if (id === null) return { kind: "silent" };
		if (network.chainIdHex !== null && id !== hexOf(network.chainIdHex)) return { kind: "wrong", got: id };
		const block = await tell(`${prefix}_blockNumber`);
		return block === null || block === undefined ? { kind: "silent" } : { kind: "right" };
	} catch {
		return { kind: "silent" };
	} finally {
		cancelTimer();
		controller.abort();
	}
}

/** Hex text without leading zeros and in lower case; null for what is none. */
function hexOf(value: unknown): string | null {
	if (typeof value !== "string" || !/^0x[0-9a-f]{1,64}$/i.test(value)) return null;
	return `0x${value
		.slice(2)
		.replace(/^0+(?=.)/, "")
		.toLowerCase()}`;
}
