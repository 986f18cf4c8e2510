import { setImmediate } from "node:timers/promises";
import { arrayElements, decodeString, QUOTE } from "../../wire/index.ts";

/** Bytes hashed in one turn of the event loop: a transaction with blobs takes tens of milliseconds. */
const PIECE_BYTES = 64 * 1024;
const HEX = /^0[xX][0-9a-fA-F]*$/;

const LIST_OF_LEGACY = 0xc0;
const BLOB_TYPE = 0x03;
/** Transaction types of EIP-2930, EIP-1559, EIP-7702. */
const PLAIN_TYPES: readonly number[] = [0x01, 0x02, 0x04];

/** Two hashes, each 0x and 64 lower-case hex digits. */
export interface TransactionHashes {
	/** keccak256 of the bytes as they were sent. */
	readonly rawHash: string;
	/** The transaction's hash on the chain; null if its type is unknown here, or it is no transaction. */
	readonly txHash: string | null;
}

/** Returns the first of these parameters (raw JSON text of an array), where it is a string. */
export function rawTransactionOf(params: Uint8Array): string | null {
	const first = arrayElements(params, 0, 1)[0];
	if (first === undefined || params[first.start] !== QUOTE) return null;
	return decodeString(params, first.start, first.end);
}

/**
 * Returns the hashes of a signed transaction in hex. A transaction with blobs (EIP-4844) is sent with its blobs around
 * it, while its hash is that of the transaction alone; of the other known types it is that of the bytes. Null where the
 * text is no hex.
 */
export async function transactionHashes(raw: string): Promise<TransactionHashes | null> {
	if (raw.length % 2 !== 0 || !HEX.test(raw)) return null;
	const bytes = Buffer.from(raw.slice(2), "hex");
	const rawHash = await keccak([bytes]);
	const type = bytes[0] ?? 0;
	if (type >= LIST_OF_LEGACY || PLAIN_TYPES.includes(type)) return { rawHash, txHash: rawHash };
	if (type !== BLOB_TYPE) return { rawHash, txHash: null };
	const wrapped = listItem(bytes, 1);
	if (wrapped === null || wrapped.start === wrapped.end || wrapped.end !== bytes.length) return { rawHash, txHash: null };
	if ((bytes[wrapped.start] ?? 0) < LIST_OF_LEGACY) return { rawHash, txHash: rawHash };
	const inner = listItem(bytes, wrapped.start);
	if (inner === null || inner.end > wrapped.end) return { rawHash, txHash: null };
	return { rawHash, txHash: await keccak([Uint8Array.of(BLOB_TYPE), bytes.subarray(wrapped.start, inner.end)]) };
}

/** Returns where the content of the RLP list at `at` begins and ends (RLP, "Definition"); null if there is none. */
function listItem(bytes: Uint8Array, at: number): { readonly start: number; readonly end: number } | null {
	const first = bytes[at] ?? 0;
	if (first < 0xc0) return null;
	let start = at + 1;
	let length = first - 0xc0;
	if (first > 0xf7) {
		const lengthBytes = first - 0xf7;
		start += lengthBytes;
		// More than four bytes of length are longer than any body.
		if (lengthBytes > 4 || start > bytes.length) return null;
		length = 0;
		for (let index = at + 1; index < start; index++) length = length * 256 + (bytes[index] ?? 0);
	}
	const end = start + length;
	return end > bytes.length ? null : { start, end };
}

async function keccak(parts: readonly Uint8Array[]): Promise<string> {
	const { keccak_256 } = await import("@noble/hashes/sha3");
	const hash = keccak_256.create();
	for (const part of parts)
		for (let at = 0; at < part.length; at += PIECE_BYTES) {
			if (at > 0) await setImmediate();
			hash.update(part.subarray(at, at + PIECE_BYTES));
		}
	return `0x${Buffer.from(hash.digest()).toString("hex")}`;
}
