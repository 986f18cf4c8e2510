/**
 * Callers without a key: wallets that signed in. Keys are looked up by the hash of their text; wallets have names
 * that no hash can equal: `wallet:<identity>` for the wallet's own account, `linked:<identity>` for its linked
 * account.
 */
import type { Account, ApiKey } from "./types.ts";

const OWN = "wallet:";
const LINKED = "linked:";
/** Chains whose links are the bare address. */
const EVM = /^eip155:\d+:(0x[0-9a-f]{40})$/;

/** Returns the look-up name of the wallet's own account. */
export function ownName(identity: string): string {
	return `${OWN}${identity}`;
}

/** Returns the look-up name of the account that a wallet is linked to. */
export function linkedName(wallet: string): string {
	return `${LINKED}${wallet}`;
}

/** Returns a wallet's identity as `accounts.wallet` spells it; null for a chain whose wallets cannot be linked. */
export function linkOf(identity: string): string | null {
	return EVM.exec(identity)?.[1] ?? null;
}

/** The account that a name refers to. */
export interface WalletName {
	readonly by: "identity" | "wallet";
	readonly value: string;
}

/** Parses a name; null: it is the hash of a key. */
export function readName(name: string): WalletName | null {
	if (name.startsWith(OWN)) return { by: "identity", value: name.slice(OWN.length) };
	return name.startsWith(LINKED) ? { by: "wallet", value: name.slice(LINKED.length) } : null;
}

/** Returns the substitute key of a wallet: no caps on its own account, only diem on the linked one. */
export function walletKey(name: string, account: Pick<Account, "id" | "createdAtMs">): ApiKey {
	return {
		id: name,
		accountId: account.id,
		type: "INFERENCE",
		last6: "",
		description: "",
		limits: { usd: name.startsWith(LINKED) ? "0" : null, diem: null, vcu: null },
		limitPeriod: "LIFETIME",
		restrictions: null,
		createdAtMs: account.createdAtMs,
		expiresAtMs: null,
		lastUsedAtMs: null,
	};
}

/** Returns true for a key that `walletKey` made: records name no key for it. */
export function isWalletKey(key: Pick<ApiKey, "id">): boolean {
	return readName(key.id) !== null;
}
