import type { Caller } from "../../budgets/port.ts";
import { ApiError } from "../../errors/index.ts";
import { invalidField } from "../../schema/index.ts";
import { addressOfIdentity, identityOfAddress, WALLET_ADDRESS } from "./wallet-address.ts";

/**
 * The wallet that a path names, which has to be the one that calls. Throws INVALID_REQUEST where the path names none,
 * X402_WALLET_MISMATCH for another wallet's.
 */
export function checkOwnWallet(caller: Caller | null, named: string): { readonly identity: string; readonly address: string } {
	const identity = identityOfAddress(named);
	if (identity === null) throw invalidField(["walletAddress"], `must be a wallet's address: ${WALLET_ADDRESS}`);
	if (caller?.wallet !== identity) throw new ApiError("X402_WALLET_MISMATCH");
	return { identity, address: addressOfIdentity(identity) };
}
