import { ApiError } from "../errors/index.ts";
import { type Nano, nano, ZERO } from "../ledger/nano.ts";
import { CachedKey } from "./cached-key.ts";
import type { CallerCache } from "./caller-cache.ts";
import { fullTokens } from "./ceiling.ts";
import { CeilingClaim, type ClaimContext, COUNT_FIRST, FixedClaim } from "./claims.ts";
import { type HoldDeps, OpenHold } from "./open-hold.ts";
import type { Caller, CeilingRequest, CeilingResult, Hold, HoldContext } from "./port.ts";
import { utcDay } from "./spending-window.ts";
import { WalletCaller, walletRefusal } from "./wallet-caller.ts";

const NOTHING = { diem: 0, bundled: 0, usd: 0 } as const;

/**
 * Where requests get their holds: from a caller and an amount to a claim in the account's queue. Where the node
 * knows the key and has the money, a hold is made in the caller's own turn.
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
		return this.#afterChecks(caller, context, (asker) =>
			amount === 0 ? free(asker) : asker.key.cached.leases.enter(new FixedClaim(asker, amount)),
		);
	}

	holdCeiling(caller: Caller, context: HoldContext, request: CeilingRequest): CeilingResult | Promise<CeilingResult> {
		return this.#afterChecks(caller, context, (asker) => {
			if (request.inputPrice === 0 && request.outputPrice === 0) return this.#ofFreeTokens(asker, request);
			const claim = new CeilingClaim(asker, request);
			const first = asker.key.cached.leases.enter(claim);
			return first instanceof Promise || first === COUNT_FIRST ? counted(asker, claim, request, first) : first;
		});
	}

	/** Nothing bounds the output; held is what the request costs beside it. */
	#ofFreeTokens(asker: ClaimContext, request: CeilingRequest): CeilingResult | Promise<CeilingResult> {
		const maxTokens = request.callerMaxTokens ?? fullTokens(request);
		const result = (hold: Hold): CeilingResult => ({ hold, spliceMaxTokens: null, maxTokens });
		const amount = request.fixedNano ?? ZERO;
		if (amount === 0) return result(free(asker));
		const held = asker.key.cached.leases.enter(new FixedClaim(asker, amount));
		return held instanceof Promise ? held.then(result) : result(held);
	}

	/** As `#admittedKey`; of a wallet the first of its accounts that can pay. Throws PAYMENT_REQUIRED where none can. */
	#afterChecks<T>(caller: Caller, context: HoldContext, begin: (asker: ClaimContext) => T | Promise<T>): T | Promise<T> {
		if (caller instanceof WalletCaller) return this.#ofWallet(caller, context, begin);
		return this.#admittedKey(caller, context, begin);
	}

	async #ofWallet<T>(wallet: WalletCaller, context: HoldContext, begin: (asker: ClaimContext) => T | Promise<T>): Promise<T> {
		let refused: ApiError | undefined;
		for (const payer of wallet.payers()) {
			try {
				return await this.#admittedKey(payer, calledBy(wallet, payer, context), begin);
			} catch (error) {
				if (!(error instanceof ApiError) || error.status !== 402) throw error;
				refused = error;
			}
		}
		throw walletRefusal(wallet, refused);
	}

	/** The first checks of each hold, then `begin`: in the same turn where the key is known as it has to be. */
	#admittedKey<T>(caller: Caller, context: HoldContext, begin: (asker: ClaimContext) => T | Promise<T>): T | Promise<T> {
		if (!(caller instanceof CachedKey)) throw new TypeError("the caller does not come from these budgets");
		const deps = this.#deps;
		const full = deps.journal.workRefusal();
		if (full !== null) {
			throw new ApiError("SERVICE_UNAVAILABLE", { message: full.message, retryAfterSeconds: full.retryAfterSeconds });
		}
		if (caller.revoked) throw new ApiError("AUTHENTICATION_FAILED");
		const day = utcDay(context.admittedAtMs);
		if (caller.detached || caller.window(day) === undefined) return this.#afterRead(caller, context, day, begin);
		const result = begin({ deps, key: caller, context, day });
		return result instanceof Promise ? keeping(caller, result) : result;
	}

	async #afterRead<T>(
		found: CachedKey,
		context: HoldContext,
		day: number,
		begin: (asker: ClaimContext) => T | Promise<T>,
	): Promise<T> {
		let key = found;
		do {
			const ready = await this.#cache.ready(key, day);
			if (ready === null) throw new ApiError("AUTHENTICATION_FAILED");
			key = ready;
			// Another request may have pushed it out again before this one had its turn.
		} while (key.detached || key.window(day) === undefined);
		return keeping(key, Promise.resolve(begin({ deps: this.#deps, key, context, day })));
	}
}

/** The record of what another account pays for a wallet says whose request it was. */
function calledBy(wallet: WalletCaller, payer: Caller, context: HoldContext): HoldContext {
	const { id } = wallet.account;
	return payer.account.id === id ? context : { ...context, callerId: id };
}

/** Price 0: nothing is held, one record is posted all the same. */
function free({ deps, key, context, day }: ClaimContext): Hold {
	return new OpenHold(deps, key, context, day, key.window(day) ?? null, ZERO, NOTHING);
}

/** Keeps the key in the cache while its request waits. */
async function keeping<T>(key: CachedKey, result: Promise<T>): Promise<T> {
	key.wait();
	try {
		return await result;
	} finally {
		key.waited();
	}
}

/** Waits for the first try of a ceiling; where the prompt has to be counted, counts it and decides. */
async function counted(
	{ key }: ClaimContext,
	claim: CeilingClaim,
	request: CeilingRequest,
	first: CeilingResult | typeof COUNT_FIRST | Promise<CeilingResult | typeof COUNT_FIRST>,
): Promise<CeilingResult> {
	let result = await first;
	if (result !== COUNT_FIRST) return result;
	// Without a count the cheap bound stands: the caller may get less, never more than the money.
	claim.counted(await request.countPromptTokens().catch(() => Number.NaN));
	result = await key.cached.leases.enter(claim);
	if (result === COUNT_FIRST) throw new Error("a counted claim was not decided");
	return result;
}
