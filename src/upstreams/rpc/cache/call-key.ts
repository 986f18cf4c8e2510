import { createHash } from "node:crypto";
import type { RpcNetwork } from "../../../catalog/rpc/types.ts";
import { canonicalJson, latin1Text } from "../../../wire/index.ts";
import type { RpcItem } from "../port.ts";

/** Calls with more parameters are never shared or cached, because a batch may have 100 of them. */
const MAX_PARAMS_BYTES = 16 * 1024;
/** Longer parameters are compared by their hash. */
const MAX_PLAIN_BYTES = 256;

/**
 * Returns the same key for equal calls on the same network, whatever their ids and spelling. Returns null for calls
 * that cannot be compared.
 */
export function callKey(network: RpcNetwork, { method, params }: RpcItem): string | null {
	if (params.length > MAX_PARAMS_BYTES) return null;
	const text = canonicalJson(params);
	const plain = text.length <= MAX_PLAIN_BYTES;
	return `${network.slug} ${method.name} ${plain ? latin1Text(text, 0, text.length) : createHash("sha256").update(text).digest("base64")}`;
}
