import { EVM_CHAIN, SOLANA_CHAIN } from "./wallet-chains.ts";

const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const SOLANA_ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** Describes the forms that `identityOfAddress` accepts, for documents and messages. */
export const WALLET_ADDRESS = "0x and 40 hex digits, or 32 to 44 characters of base58";

/** Returns the identity of a wallet address (EVM addresses in any letter case); null if it is not an address. */
export function identityOfAddress(address: string): string | null {
	if (EVM_ADDRESS.test(address)) return `${EVM_CHAIN.identity}${address.toLowerCase()}`;
	return SOLANA_ADDRESS.test(address) ? `${SOLANA_CHAIN.identity}${address}` : null;
}

/** Returns the address in an identity, in its chain's form: lower case on EVM chains. */
export function addressOfIdentity(identity: string): string {
	return identity.slice(identity.lastIndexOf(":") + 1);
}
