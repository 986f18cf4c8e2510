import { checksummedAddress, readEvmAddress } from "../../schema/index.ts";
import { readMessage, type SignInMessage, writeMessage } from "./sign-in-message.ts";
import { refusedSignIn } from "./sign-in-refusal.ts";
import { isSolanaAddress } from "./solana-signature.ts";
import { SOLANA_CHAIN, type WalletChain, walletChain } from "./wallet-chains.ts";

/** What a header claims: that this wallet signed this text. */
export interface SignInProof {
	readonly chain: WalletChain;
	/** Lower case on EVM chains. */
	readonly address: string;
	/** What was signed. */
	readonly text: string;
	readonly message: SignInMessage;
	readonly signature: string;
	/** Unix milliseconds that the header gives, unsigned; null where it gives none. */
	readonly timestampMs: number | null;
}

type Payload = Readonly<Record<string, unknown>>;

/**
 * Reads a sign-in of either form: with the signed text in `message`, or (CAIP-122, as the x402 extension sends it) with
 * its fields, from which the text is built. Rejects with X402_INVALID_SIGN_IN.
 */
export async function readProof(payload: Payload): Promise<SignInProof> {
	const signature = textOf(payload, "signature");
	const given = textOf(payload, "address");
	const timestampMs = payload.timestamp ?? null;
	if (timestampMs !== null && typeof timestampMs !== "number") throw refusedSignIn("malformed_payload");
	const chain = walletChain(payload.chainId);
	if (chain === null) throw refusedSignIn(payload.chainId === undefined ? "malformed_payload" : "unsupported_chain");
	const type = optionalText(payload, "type");
	if (type !== null && !chain.types.includes(type)) throw refusedSignIn("unsupported_chain");
	const address = await readAddress(chain, given);
	if (address === null) throw refusedSignIn("malformed_payload");
	const text = payload.message === undefined ? await textOfFields(payload, chain, address) : textOf(payload, "message");
	const message = readMessage(text);
	if (message === null) throw refusedSignIn("malformed_message");
	return { chain, address, text, message, signature, timestampMs };
}

/** An address as identities write it; null where it is none. */
export async function readAddress(chain: WalletChain, given: string): Promise<string | null> {
	if (chain.kind === "evm") return readEvmAddress(given);
	return isSolanaAddress(given) ? given : null;
}

/** The text as the libraries of each chain write it. */
async function textOfFields(payload: Payload, chain: WalletChain, address: string): Promise<string> {
	const resources = payload.resources ?? null;
	if (resources !== null && !isTexts(resources)) throw refusedSignIn("malformed_payload");
	const solana = chain === SOLANA_CHAIN;
	return writeMessage({
		domain: textOf(payload, "domain"),
		account: chain.account,
		address: solana ? address : await checksummedAddress(address),
		statement: optionalText(payload, "statement"),
		emptyLines: solana ? 1 : 2,
		uri: textOf(payload, "uri"),
		version: textOf(payload, "version"),
		chainId: chain.messageIds[0] ?? "",
		nonce: textOf(payload, "nonce"),
		issuedAt: textOf(payload, "issuedAt"),
		expirationTime: optionalText(payload, "expirationTime"),
		notBefore: optionalText(payload, "notBefore"),
		requestId: optionalText(payload, "requestId"),
		resources: solana && resources?.length === 0 ? null : resources,
	});
}

function textOf(payload: Payload, name: string): string {
	const value = payload[name];
	if (typeof value !== "string" || value === "") throw refusedSignIn("malformed_payload");
	return value;
}

/** null, and nothing at all, are no value. */
function optionalText(payload: Payload, name: string): string | null {
	const value = payload[name] ?? null;
	if (value !== null && typeof value !== "string") throw refusedSignIn("malformed_payload");
	return value === "" ? null : value;
}

function isTexts(value: unknown): value is readonly string[] {
	return Array.isArray(value) && value.every((item) => typeof item === "string");
}
