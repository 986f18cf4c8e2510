/**
 * Callers without a key: a wallet that signed in. Where keys are looked up by the hash of their text, wallets have a
 * name of their own, which no hash can be: `wallet:<identity>` for the wallet's own account, `linked:<identity>` for the
 * account that it is linked to.
 */
import type { Account, ApiKey } from "./port.ts";

const OWN = "wallet:";
const LINKED = "linked:";
/** Chains of which a link is the bare address. */
const EVM = /^eip155:\d+:(0x[0-9a-f]{40})$/;

/** Under what the wallet's own account is looked up. */
export function ownName(identity: string): string {
	return `${OWN}${identity}`;
}

/** Under what the account that a wallet is linked to is looked up. */
export function linkedName(wallet: string): string {
	return `${LINKED}${wallet}`;
}

/** How `accounts.wallet` spells the wallet of an identity; null for a chain whose wallets cannot be linked. */
export function linkOf(identity: string): string | null {
	return EVM.exec(identity)?.[1] ?? null;
}

/** Which account a name asks for. */
export interface WalletName {
	readonly by: "identity" | "wallet";
	readonly value: string;
}

/** What a name asks for; null: it is the hash of a key. */
export function readName(name: string): WalletName | null {
	if (name.startsWith(OWN)) return { by: "identity", value: name.slice(OWN.length) };
	return name.startsWith(LINKED) ? { by: "wallet", value: name.slice(LINKED.length) } : null;
}

/** What stands for a key where a wallet calls: no caps on its own account, nothing but diem on the one it is linked to. */
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

/** True for what `walletKey` made: records of what it did name no key. */
export function isWalletKey(key: Pick<ApiKey, "id">): boolean {
	return readName(key.id) !== null;
}
