import { createHash } from "node:crypto";
import { base58 } from "@scure/base";
import { TOKEN_PROGRAM } from "./transfer.ts";

const ASSOCIATED_TOKEN_PROGRAM = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";
const OF_PROGRAM = Buffer.from("ProgramDerivedAddress");

/**
 * Returns the account that conventionally holds an owner's units of a token: the first address from these seeds that
 * is no key (https://solana.com/docs/core/pda).
 */
export async function tokenAccountOf(owner: string, mint: string): Promise<string> {
	const { ed25519 } = await import("@noble/curves/ed25519");
	const seeds = [owner, TOKEN_PROGRAM, mint].map((address) => base58.decode(address));
	const program = base58.decode(ASSOCIATED_TOKEN_PROGRAM);
	for (let bump = 255; bump >= 0; bump--) {
		const hash = createHash("sha256");
		for (const part of [...seeds, Uint8Array.of(bump), program, OF_PROGRAM]) hash.update(part);
		const address = new Uint8Array(hash.digest());
		if (!isKey(address)) return base58.encode(address);
	}
	throw new RangeError("no address behind these seeds");

	function isKey(bytes: Uint8Array): boolean {
		try {
			ed25519.ExtendedPoint.fromHex(bytes);
			return true;
		} catch {
			return false;
		}
	}
}
