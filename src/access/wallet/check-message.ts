import { readAddress, type SignInProof } from "./sign-in-proof.ts";
import { refusedSignIn } from "./sign-in-refusal.ts";

/** A wallet's clock may be ahead of ours by this much. */
export const SKEW_MS = 30_000;
/** A message is valid for at most this time after its own timestamp: ten minutes and the clock skew. */
export const MAX_AGE_MS = 630_000;
/** A message with a later expiry was not made for this service. */
const MAX_LIFE_MS = 86_400_000;
/** EIP-4361 requires at least 8; libraries generate up to 96. */
const NONCE = /^[0-9A-Za-z]{8,128}$/;
const URI = /^[\x21-\x7e]+$/;

/**
 * Checks everything in a message except its signature, cheap checks first (docs/wallets.md has the order). Returns the end of
 * its validity in Unix milliseconds; rejects with X402_INVALID_SIGN_IN.
 */
export async function checkMessage(proof: SignInProof, origins: readonly URL[], nowMs: number): Promise<number> {
	const { chain, address, message, timestampMs } = proof;
	// This timestamp is not signed: it saves work, and proves nothing.
	if (timestampMs !== null && !(Math.abs(nowMs - timestampMs) <= MAX_AGE_MS)) throw refusedSignIn("invalid_timestamp");
	if (message.account !== chain.account || !chain.messageIds.includes(message.chainId)) throw refusedSignIn("chain_mismatch");
	if ((await readAddress(chain, message.address)) !== address) throw refusedSignIn("address_mismatch");
	const origin = origins.find(({ host }) => host === message.domain);
	if (origin === undefined) throw refusedSignIn("domain_mismatch");
	if (!isOf(message.uri, origin)) throw refusedSignIn("uri_mismatch");
	if (message.version !== "1") throw refusedSignIn("unsupported_version");
	if (!NONCE.test(message.nonce)) throw refusedSignIn("malformed_nonce");
	return checkTimes(message, nowMs);
}

function checkTimes(message: SignInProof["message"], nowMs: number): number {
	const issuedAtMs = instantOf(message.issuedAt);
	if (issuedAtMs - nowMs > SKEW_MS || nowMs - issuedAtMs > MAX_AGE_MS) throw refusedSignIn("issued_at_out_of_range");
	let endMs = issuedAtMs + MAX_AGE_MS;
	if (message.expirationTime !== null) {
		const expiresAtMs = instantOf(message.expirationTime);
		if (expiresAtMs <= nowMs) throw refusedSignIn("expired");
		if (expiresAtMs - issuedAtMs > MAX_LIFE_MS) throw refusedSignIn("expires_too_late");
		endMs = Math.min(endMs, expiresAtMs);
	}
	if (message.notBefore !== null && instantOf(message.notBefore) > nowMs) throw refusedSignIn("not_yet_valid");
	return endMs;
}

function instantOf(text: string): number {
	const instant = readInstant(text);
	if (instant === null) throw refusedSignIn("invalid_timestamp");
	return instant;
}

/** Compares scheme and host, because nested schemes (blob:) have the `origin` of their content. */
function isOf(uri: string, origin: URL): boolean {
	if (!URI.test(uri) || !URL.canParse(uri)) return false;
	const { protocol, host } = new URL(uri);
	return protocol === origin.protocol && host === origin.host;
}

const FORM =
	/^(\d{4})-(0[1-9]|1[0-2])-(\d{2})T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Parses an instant (RFC 3339) into Unix milliseconds; null if it is malformed or the day does not exist. */
export function readInstant(text: string): number | null {
	const [, year, month, day] = FORM.exec(text) ?? [];
	if (year === undefined) return null;
	const lastDay = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
	if (Number(day) < 1 || Number(day) > lastDay) return null;
	const instant = Date.parse(text);
	return Number.isNaN(instant) ? null : instant;
}
