import { EVM_CHAIN, SOLANA_CHAIN } from "./wallet-chains.ts";

const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const SOLANA_ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** The forms of `identityOfAddress`, for documents and messages. */
export const WALLET_ADDRESS = "0x and 40 hex digits, or 32 to 44 characters of base58";

/** The identity of the wallet at an address, in whatever case an EVM one is written; null where it is no address. */
export function identityOfAddress(address: string): string | null {
	if (EVM_ADDRESS.test(address)) return `${EVM_CHAIN.identity}${address.toLowerCase()}`;
	return SOLANA_ADDRESS.test(address) ? `${SOLANA_CHAIN.identity}${address}` : null;
}

/** The address in an identity, as its chain writes it: lower case on EVM chains. */
export function addressOfIdentity(identity: string): string {
	return identity.slice(identity.lastIndexOf(":") + 1);
}
