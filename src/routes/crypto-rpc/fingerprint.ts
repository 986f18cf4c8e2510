import { createHash } from "node:crypto";
import { canonicalJson } from "../../wire/index.ts";

/**
 * Returns the fingerprint that an idempotency key is bound to: sha256 in hex of the network, a line feed and the
 * canonical body. A body that was serialised anew has the same fingerprint; any other value, or another network, has
 * another. The body is JSON that was checked before.
 */
export function bodyFingerprint(network: string, body: Uint8Array): string {
	return createHash("sha256").update(`${network}\n`).update(canonicalJson(body)).digest("hex");
}
