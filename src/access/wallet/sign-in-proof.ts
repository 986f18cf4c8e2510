import { checksummedAddress, readEvmAddress } from "../../schema/index.ts";
import { readMessage, type SignInMessage, writeMessage } from "./sign-in-message.ts";
import { refusedSignIn } from "./sign-in-refusal.ts";
import { isSolanaAddress } from "./solana-signature.ts";
import { SOLANA_CHAIN, type WalletChain, walletChain } from "./wallet-chains.ts";

/** The claim of a header: this wallet signed this text. */
export interface SignInProof {
	readonly chain: WalletChain;
	/** Lower case on EVM chains. */
	readonly address: string;
	/** The signed text. */
	readonly text: string;
	readonly message: SignInMessage;
	readonly signature: string;
	/** The header's unsigned timestamp in Unix milliseconds; null if it has none. */
	readonly timestampMs: number | null;
}

type Payload = Readonly<Record<string, unknown>>;

/**
 * Reads a sign-in of either form: with the signed text in `message`, or with its fields (CAIP-122, as the x402 extension sends
 * it), from which the text is built. Rejects with X402_INVALID_SIGN_IN.
 */
export async function readProof(payload: Payload): Promise<SignInProof> {
	const signature = textOf(payload, "signature");
	const claimedAddress = textOf(payload, "address");
	const timestampMs = payload.timestamp ?? null;
	if (timestampMs !== null && typeof timestampMs !== "number") throw refusedSignIn("malformed_payload");
	const chain = walletChain(payload.chainId);
	if (chain === null) throw refusedSignIn(payload.chainId === undefined ? "malformed_payload" : "unsupported_chain");
	const type = optionalText(payload, "type");
	if (type !== null && !chain.types.includes(type)) throw refusedSignIn("unsupported_chain");
	const address = await readAddress(chain, claimedAddress);
	if (address === null) throw refusedSignIn("malformed_payload");
	const text = payload.message === undefined ? await textOfFields(payload, chain, address) : textOf(payload, "message");
	const message = readMessage(text);
	if (message === null) throw refusedSignIn("malformed_message");
	return { chain, address, text, message, signature, timestampMs };
}

/** Returns an address in the form of identities; null if it is not an address. */
export async function readAddress(chain: WalletChain, address: string): Promise<string | null> {
	if (chain.kind === "evm") return readEvmAddress(address);
	return isSolanaAddress(address) ? address : null;
}

/** Builds the text in the same way as each chain's libraries. */
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

/** null and an absent field mean no value. */
function optionalText(payload: Payload, name: string): string | null {
	const value = payload[name] ?? null;
	if (value !== null && typeof value !== "string") throw refusedSignIn("malformed_payload");
	return value === "" ? null : value;
}

function isTexts(value: unknown): value is readonly string[] {
	return Array.isArray(value) && value.every((item) => typeof item === "string");
}
