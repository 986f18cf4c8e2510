import { createHash } from "node:crypto";
import type { RpcNetwork } from "../../../catalog/rpc/types.ts";
import { canonicalJson, latin1Text } from "../../../wire/index.ts";
import type { RpcItem } from "../port.ts";

/** Calls with more parameters are not compared with others: a batch may have 100 of them. */
const MAX_PARAMS_BYTES = 16 * 1024;
/** More are told apart by their hash. */
const MAX_PLAIN_BYTES = 256;

/** The same text for calls that ask the same of the same network, whatever their ids and spelling; null: do not compare. */
export function callKey(network: RpcNetwork, { method, params }: RpcItem): string | null {
	if (params.length > MAX_PARAMS_BYTES) return null;
	const text = canonicalJson(params);
	const plain = text.length <= MAX_PLAIN_BYTES;
	return `${network.slug} ${method.name} ${plain ? latin1Text(text, 0, text.length) : createHash("sha256").update(text).digest("base64")}`;
}
