import type { Caller } from "../../budgets/port.ts";
import { ApiError } from "../../errors/index.ts";
import { invalidField } from "../../schema/index.ts";
import { addressOfIdentity, identityOfAddress, WALLET_ADDRESS } from "./wallet-address.ts";

/**
 * Returns the wallet that a path names, which has to be the caller's own.
 * @throws INVALID_REQUEST if the path names no wallet, X402_WALLET_MISMATCH for another wallet
 */
export function checkOwnWallet(
	caller: Caller | null,
	walletAddress: string,
): { readonly identity: string; readonly address: string } {
	const identity = identityOfAddress(walletAddress);
	if (identity === null) throw invalidField(["walletAddress"], `must be a wallet's address: ${WALLET_ADDRESS}`);
	if (caller?.wallet !== identity) throw new ApiError("X402_WALLET_MISMATCH");
	return { identity, address: addressOfIdentity(identity) };
}
