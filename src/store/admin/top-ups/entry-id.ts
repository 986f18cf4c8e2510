import { createHmac } from "node:crypto";

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ULID_LENGTH = 26;
const RANDOM_BYTES = 10;

/**
 * Returns the id of an entry of a wallet's history: `ledger_` and a ULID of its time, in which a keyed hash of its
 * position in the books replaces the random part. The position counts the movements of all accounts: two of a
 * wallet's own entries would reveal how much the service did in between.
 *
 * @param secret 64 hex digits, the same on all nodes
 * @param createdAtMs Unix milliseconds
 */
export function entryId(secret: string, place: bigint, createdAtMs: number): string {
	const hash = createHmac("sha256", Buffer.from(secret, "hex")).update(String(place)).digest();
	let bits = (BigInt(createdAtMs) << BigInt(8 * RANDOM_BYTES)) | BigInt(`0x${hash.toString("hex", 0, RANDOM_BYTES)}`);
	let ulid = "";
	for (let count = 0; count < ULID_LENGTH; count++) {
		ulid = CROCKFORD.charAt(Number(bits & 31n)) + ulid;
		bits >>= 5n;
	}
	return `ledger_${ulid}`;
}
