import { ApiError } from "../errors/index.ts";
import { formatNano, type Nano, nano, ZERO } from "../ledger/nano.ts";
import type { Account, ApiKey } from "../store/port.ts";
import { linkedName, linkOf, ownName, walletKey } from "../store/wallet-callers.ts";
import type { CachedKey } from "./cached-key.ts";
import type { Caller } from "./caller.ts";
import type { CallerCache } from "./caller-cache.ts";

/** Minimum balance of a wallet that has no diem: 0.10 USD (docs/wallets.md). */
export const WALLET_FLOOR: Nano = nano(100_000_000);

/**
 * Returns true if the wallet may be served now: its own balance reaches the minimum, or its linked account has
 * diem.
 */
export function walletMayConsume({ usd, diem }: { readonly usd: Nano; readonly diem: Nano }): boolean {
	return diem > 0 || usd >= WALLET_FLOOR;
}

/**
 * A wallet that signed in. It pays with the diem of its linked account where that covers a request's worst case, else
 * with its own balance. One that never topped up has no account, and nothing to pay with.
 */
export class WalletCaller implements Caller {
	readonly wallet: string;
	/** Its own account; null before its first top-up. */
	readonly own: CachedKey | null;
	/** The linked account, for its diem; null without one. */
	readonly linked: CachedKey | null;
	readonly key: ApiKey;

	constructor(wallet: string, own: CachedKey | null, linked: CachedKey | null) {
		this.wallet = wallet;
		this.own = own;
		this.linked = linked;
		this.key = walletKey(ownName(wallet), this.account);
	}

	get account(): Account {
		return this.own?.account ?? this.linked?.account ?? unregisteredWallet(this.wallet);
	}

	/** Returns true if it has no account at all. Anyone can create any number of such wallets. */
	get isUnregistered(): boolean {
		return this.own === null && this.linked === null;
	}

	/** Returns its balances; `usd` is its own alone, since credit of a linked account is for that account's keys. */
	balances(): { readonly usd: Nano; readonly diem: Nano } {
		return {
			usd: this.own === null ? ZERO : this.own.balances().usd,
			diem: this.linked === null || this.linked.account.disabled ? ZERO : this.linked.balances().diem,
		};
	}

	/**
	 * Returns the accounts that may pay for a request, in order. Throws PAYMENT_REQUIRED if the wallet is below the
	 * floor.
	 */
	payers(): readonly CachedKey[] {
		const { usd, diem } = this.balances();
		const payers: CachedKey[] = [];
		if (this.linked !== null && diem > 0) payers.push(this.linked);
		if (this.own !== null && usd >= WALLET_FLOOR) payers.push(this.own);
		if (payers.length > 0) return payers;
		throw paymentRequired(`this wallet has ${formatNano(usd)} USD, and needs ${formatNano(WALLET_FLOOR, 2)} to be served`);
	}
}

/** Returns the 402 of a wallet whose accounts cannot pay for a request; `refused` is the error of the last of them. */
export function walletRefusal(wallet: WalletCaller, refused: ApiError | undefined): ApiError {
	const error = paymentRequired(`this request may cost more than the ${formatNano(wallet.balances().usd)} USD of this wallet`);
	const { param, retryAfterSeconds } = refused?.options ?? {};
	return new ApiError(error.code, {
		message: error.message,
		...(param === undefined ? {} : { param }),
		...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
		...(refused === undefined ? {} : { cause: refused }),
	});
}

function paymentRequired(reason: string): ApiError {
	return new ApiError("PAYMENT_REQUIRED", { message: `Payment required: ${reason}; top up with POST /api/v1/x402/top-up` });
}

/**
 * Returns the wallet's caller, with its accounts up to date. Rejects with 503. If nodes share the store, a wallet
 * that seems empty is read again: it may have topped up at another node, and a 402 would make it pay twice.
 */
export function findWallet(cache: CallerCache, identity: string): WalletCaller | Promise<WalletCaller> {
	const cachedCaller = cachedWallet(cache, identity);
	if (cachedCaller instanceof Promise) return cachedCaller.then((wallet) => readAgain(cache, wallet));
	return readAgain(cache, cachedCaller);
}

function readAgain(cache: CallerCache, cachedCaller: WalletCaller): WalletCaller | Promise<WalletCaller> {
	const mustReread = !walletMayConsume(cachedCaller.balances()) && cache.invalidate(ownName(cachedCaller.wallet));
	return mustReread ? cachedWallet(cache, cachedCaller.wallet) : cachedCaller;
}

function cachedWallet(cache: CallerCache, identity: string): WalletCaller | Promise<WalletCaller> {
	const link = linkOf(identity);
	const own = cache.find(ownName(identity));
	const linked = link === null ? null : cache.find(linkedName(link));
	if (own instanceof Promise || linked instanceof Promise)
		return Promise.all([own, linked]).then(([ownKey, linkedKey]) => new WalletCaller(identity, ownKey, linkedKey));
	return new WalletCaller(identity, own, linked);
}

/** Returns a substitute account for a wallet without any; only its identity is known. */
function unregisteredWallet(identity: string): Account {
	return {
		id: identity,
		name: identity,
		tier: "paid",
		disabled: false,
		operator: false,
		wallet: null,
		identity,
		createdAtMs: 0,
	};
}
