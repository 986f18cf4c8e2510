import { ApiError } from "../errors/index.ts";
import { type Nano, nano, ZERO } from "../ledger/nano.ts";
import { CachedKey } from "./cached-key.ts";
import type { Caller } from "./caller.ts";
import type { CallerCache } from "./caller-cache.ts";
import { fullTokens } from "./ceiling.ts";
import { CeilingClaim, type ClaimContext, COUNT_FIRST, FixedClaim } from "./claims.ts";
import { type HoldDeps, OpenHold } from "./open-hold.ts";
import type { CeilingRequest, CeilingResult, Hold, HoldContext } from "./port.ts";
import { utcDay } from "./spending-window.ts";
import { WalletCaller, walletRefusal } from "./wallet-caller.ts";

const NOTHING = { diem: 0, bundled: 0, usd: 0 } as const;

/**
 * Takes holds for requests: it turns a caller and an amount into a claim in the account's queue. Where the node knows
 * the key and has the money, the hold is taken in the caller's own turn.
 */
export class HoldAllocator {
	readonly #cache: CallerCache;
	readonly #deps: HoldDeps;

	constructor(cache: CallerCache, deps: HoldDeps) {
		this.#cache = cache;
		this.#deps = deps;
	}

	hold(caller: Caller, context: HoldContext, worstNano: Nano): Hold | Promise<Hold> {
		const amount = nano(worstNano);
		return this.#afterChecks(caller, context, (claimContext) =>
			amount === 0 ? freeHold(claimContext) : claimContext.key.cached.leases.enter(new FixedClaim(claimContext, amount)),
		);
	}

	holdCeiling(caller: Caller, context: HoldContext, request: CeilingRequest): CeilingResult | Promise<CeilingResult> {
		return this.#afterChecks(caller, context, (claimContext) => {
			if (request.inputPrice === 0 && request.outputPrice === 0) return this.#holdFixedPart(claimContext, request);
			const claim = new CeilingClaim(claimContext, request);
			const firstAttempt = claimContext.key.cached.leases.enter(claim);
			return firstAttempt instanceof Promise || firstAttempt === COUNT_FIRST
				? decideCeiling(claimContext, claim, request, firstAttempt)
				: firstAttempt;
		});
	}

	/** Tokens are free, so nothing bounds the output; only the fixed part of the price is held. */
	#holdFixedPart(claimContext: ClaimContext, request: CeilingRequest): CeilingResult | Promise<CeilingResult> {
		const maxTokens = request.callerMaxTokens ?? fullTokens(request);
		const result = (hold: Hold): CeilingResult => ({ hold, spliceMaxTokens: null, maxTokens });
		const amount = request.fixedNano ?? ZERO;
		if (amount === 0) return result(freeHold(claimContext));
		const fixedHold = claimContext.key.cached.leases.enter(new FixedClaim(claimContext, amount));
		return fixedHold instanceof Promise ? fixedHold.then(result) : result(fixedHold);
	}

	/**
	 * Begins with a key's account, or with the first account of a wallet that can pay. Throws PAYMENT_REQUIRED if none
	 * can.
	 */
	#afterChecks<T>(caller: Caller, context: HoldContext, begin: (claimContext: ClaimContext) => T | Promise<T>): T | Promise<T> {
		if (caller instanceof WalletCaller) return this.#ofWallet(caller, context, begin);
		return this.#admittedKey(caller, context, begin);
	}

	async #ofWallet<T>(
		wallet: WalletCaller,
		context: HoldContext,
		begin: (claimContext: ClaimContext) => T | Promise<T>,
	): Promise<T> {
		let refused: ApiError | undefined;
		for (const payer of wallet.payers()) {
			try {
				return await this.#admittedKey(payer, payerContext(wallet, payer, context), begin);
			} catch (error) {
				if (!(error instanceof ApiError) || error.status !== 402) throw error;
				refused = error;
			}
		}
		throw walletRefusal(wallet, refused);
	}

	/** Makes the first checks of each hold, then calls `begin`: in the same turn where the key is cached and fresh. */
	#admittedKey<T>(caller: Caller, context: HoldContext, begin: (claimContext: ClaimContext) => T | Promise<T>): T | Promise<T> {
		if (!(caller instanceof CachedKey)) throw new TypeError("the caller does not come from these budgets");
		const deps = this.#deps;
		const workRefusal = deps.journal.workRefusal();
		if (workRefusal !== null) {
			throw new ApiError("SERVICE_UNAVAILABLE", {
				message: workRefusal.message,
				retryAfterSeconds: workRefusal.retryAfterSeconds,
			});
		}
		if (caller.revoked) throw new ApiError("AUTHENTICATION_FAILED");
		const day = utcDay(context.admittedAtMs);
		if (caller.detached || caller.window(day) === undefined) return this.#afterRead(caller, context, day, begin);
		const result = begin({ deps, key: caller, context, day });
		return result instanceof Promise ? keepCached(caller, result) : result;
	}

	async #afterRead<T>(
		cached: CachedKey,
		context: HoldContext,
		day: number,
		begin: (claimContext: ClaimContext) => T | Promise<T>,
	): Promise<T> {
		let key = cached;
		do {
			const ready = await this.#cache.ready(key, day);
			if (ready === null) throw new ApiError("AUTHENTICATION_FAILED");
			key = ready;
			// Another request may have evicted the key again before this one got its turn.
		} while (key.detached || key.window(day) === undefined);
		return keepCached(key, Promise.resolve(begin({ deps: this.#deps, key, context, day })));
	}
}

/** Returns the context of a record in which another account pays for a wallet: it names the wallet's account. */
function payerContext(wallet: WalletCaller, payer: Caller, context: HoldContext): HoldContext {
	const { id } = wallet.account;
	return payer.account.id === id ? context : { ...context, callerId: id };
}

/** Returns a hold at price 0: nothing is held, and one record is still posted. */
function freeHold({ deps, key, context, day }: ClaimContext): Hold {
	return new OpenHold(deps, key, context, day, key.window(day) ?? null, ZERO, NOTHING);
}

/** Keeps the key in the cache while its request waits. */
async function keepCached<T>(key: CachedKey, result: Promise<T>): Promise<T> {
	key.wait();
	try {
		return await result;
	} finally {
		key.waited();
	}
}

/** Waits for the first attempt of a ceiling. If the prompt must be counted, counts it and decides. */
async function decideCeiling(
	{ key }: ClaimContext,
	claim: CeilingClaim,
	request: CeilingRequest,
	firstAttempt: CeilingResult | typeof COUNT_FIRST | Promise<CeilingResult | typeof COUNT_FIRST>,
): Promise<CeilingResult> {
	let result = await firstAttempt;
	if (result !== COUNT_FIRST) return result;
	// If counting fails, the cheap bound is used: the caller may get less, never more than the money allows.
	claim.counted(await request.countPromptTokens().catch(() => Number.NaN));
	result = await key.cached.leases.enter(claim);
	if (result === COUNT_FIRST) throw new Error("a counted claim was not decided");
	return result;
}
