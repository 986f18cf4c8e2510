import { createHash } from "node:crypto";
import { canonicalJson } from "../../wire/index.ts";

/**
 * What an idempotency key is bound to: sha256 in hex of the network, a line feed and the body in its canonical
 * spelling, so that a body that was serialised anew is the same and any other value, or another network, is not.
 * The body is JSON that was checked before.
 */
export function bodyFingerprint(network: string, body: Uint8Array): string {
	return createHash("sha256").update(`${network}\n`).update(canonicalJson(body)).digest("hex");
}
