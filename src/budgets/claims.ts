import { type Nano, nano } from "../ledger/nano.ts";
import type { UsableMoney } from "../store/port.ts";
import type { CachedKey } from "./cached-key.ts";
import { affordableTokens, FLOOR_TOKENS, fittingTokens, fullTokens, outputNano, worstNano } from "./ceiling.ts";
import type { CapClaim, Claim } from "./claim.ts";
import { accountsUnavailable } from "./lease-queue.ts";
import { type HoldDeps, OpenHold } from "./open-hold.ts";
import type { CeilingRequest, CeilingResult, HoldContext } from "./port.ts";
import { paymentRefusal, type UnfundedRequest } from "./refusal.ts";
import type { SpendingWindow } from "./spending-window.ts";
import { type Split, sumOfSplit, takeInOrder, withinCaps } from "./split.ts";

/** The key, day and dependencies of a claim. */
export interface ClaimContext {
	readonly deps: HoldDeps;
	readonly key: CachedKey;
	readonly context: HoldContext;
	readonly day: number;
}

/** Returns what the caller may hold now, source by source: free money, cut by the key's caps. */
function availableHere({ key, day }: ClaimContext, window: SpendingWindow | null): Split {
	const free = key.cached.money.free(day);
	return window === null ? free : withinCaps(free, window.headroomDiem, window.headroomUsd);
}

/**
 * Returns what the caps let the caller use of all the account's money beyond this node's holds, on whichever node it
 * is leased.
 */
function availableAnywhere({ key, day }: ClaimContext, window: SpendingWindow | null): Split {
	const anywhere = key.cached.money.freeAnywhere(day);
	if (window === null) return anywhere;
	const { diem, usd } = window.unspent;
	return withinCaps(anywhere, diem, usd);
}

/** Returns what the key's caps let a request use beyond what is free on this node. */
function usableElsewhere(claimContext: ClaimContext): UsableMoney | undefined {
	const window = windowOf(claimContext);
	if (window === null) return undefined;
	const { diem, bundled, usd } = claimContext.key.cached.money.free(claimContext.day);
	return { diem: Math.max(0, window.headroomDiem - diem), usd: Math.max(0, window.headroomUsd - bundled - usd) };
}

/** Returns what the claim needs of the key's limits, where they are leased. */
function capClaim({ key, day }: ClaimContext, amount: () => number): CapClaim | undefined {
	const window = key.window(day);
	if (!window?.leases) return undefined;
	return {
		window,
		holder: key,
		request: () => {
			const { diem, bundled, usd } = key.cached.money.free(day);
			const cappedAmount = Math.min(amount(), Number.MAX_SAFE_INTEGER);
			return { keyId: key.keyId, amount: cappedAmount, money: { diem, usd: bundled + usd }, headroom: window.leaseHeadroom };
		},
		applyAnswer: (answer) => {
			window.grow(answer);
			return key.hasWindow(window);
		},
	};
}

/**
 * Returns true if the account has money elsewhere that the caps would let this claim use, or if the caps
 * themselves can grow.
 */
function moreMoneyHelps(claimContext: ClaimContext, needed: number): boolean {
	const window = windowOf(claimContext);
	const usable = sumOfSplit(availableAnywhere(claimContext, window));
	const capsForbid =
		window !== null && usable < needed && usable < sumOfSplit(claimContext.key.cached.money.freeAnywhere(claimContext.day));
	return !(capsForbid && sumOfSplit(availableHere(claimContext, window)) >= usable);
}

/**
 * Returns the key's current window. It was known when the claim began; a change of period may have dropped it since.
 */
function windowOf({ key, day }: ClaimContext): SpendingWindow | null {
	const window = key.window(day);
	if (window === undefined) throw accountsUnavailable(new Error("the key's limit period changed while a request waited"));
	return window;
}

function openHold(claimContext: ClaimContext, window: SpendingWindow | null, amount: Nano, ownSplit: Split): OpenHold {
	return new OpenHold(claimContext.deps, claimContext.key, claimContext.context, claimContext.day, window, amount, ownSplit);
}

function refuse(
	claimContext: ClaimContext,
	window: SpendingWindow | null,
	needNano: number,
	details?: Pick<UnfundedRequest, "advice" | "param">,
): never {
	throw paymentRefusal({ money: claimContext.key.cached.money, day: claimContext.day, window, needNano, ...details });
}

/** Returns true if the key's caps forbid the amount, however much money arrives. */
function exceedsCaps(window: SpendingWindow | null, amount: number): boolean {
	return window !== null && window.unspent.diem + window.unspent.usd < amount;
}

/** A claim on a fixed worst case, which is held in full or refused. */
export class FixedClaim implements Claim<OpenHold> {
	readonly day: number;
	readonly allowPartial = false;
	readonly #claimContext: ClaimContext;
	readonly #amount: Nano;

	constructor(claimContext: ClaimContext, amount: Nano) {
		this.#claimContext = claimContext;
		this.#amount = amount;
		this.day = claimContext.day;
	}

	attempt(mustDecide: boolean): OpenHold | undefined {
		const window = windowOf(this.#claimContext);
		const ownSplit = takeInOrder(this.#amount, availableHere(this.#claimContext, window));
		if (ownSplit !== undefined) return openHold(this.#claimContext, window, this.#amount, ownSplit);
		if (!mustDecide && !exceedsCaps(window, this.#amount)) return undefined;
		return refuse(this.#claimContext, window, this.#amount);
	}

	shortfall(): number {
		return Math.max(0, this.#amount - sumOfSplit(availableHere(this.#claimContext, windowOf(this.#claimContext))));
	}

	usableElsewhere(): UsableMoney | undefined {
		return usableElsewhere(this.#claimContext);
	}

	moreMoneyHelps(): boolean {
		return moreMoneyHelps(this.#claimContext, this.#amount);
	}

	caps(): CapClaim | undefined {
		return capClaim(this.#claimContext, () => this.#amount);
	}
}

/** Result of an attempt where the bound does not fit: the prompt must be counted before the claim can be decided. */
export const COUNT_FIRST = Symbol("count the prompt first");

/**
 * A claim on the output ceiling of a chat request. It first uses the cheap bound of the prompt. Where that does not
 * fit even after a store call, it returns COUNT_FIRST: call `counted`, then enter the claim again for the decision.
 */
export class CeilingClaim implements Claim<CeilingResult | typeof COUNT_FIRST> {
	readonly day: number;
	readonly #claimContext: ClaimContext;
	readonly #request: CeilingRequest;
	#promptTokens: number;
	#counted = false;

	constructor(claimContext: ClaimContext, request: CeilingRequest) {
		this.#claimContext = claimContext;
		this.#request = request;
		this.#promptTokens = request.promptTokensBound;
		this.day = claimContext.day;
	}

	/** If the caller set no maximum, the output is cut to the money that exists. */
	get allowPartial(): boolean {
		return this.#request.callerMaxTokens === null && !this.#counted;
	}

	/** Takes the prompt's exact count. The cheap bound remains where it is lower, or if counting failed. */
	counted(promptTokens: number): void {
		if (promptTokens >= 0 && promptTokens < this.#promptTokens) this.#promptTokens = Math.ceil(promptTokens);
		this.#counted = true;
	}

	attempt(mustDecide: boolean): CeilingResult | typeof COUNT_FIRST | undefined {
		const window = windowOf(this.#claimContext);
		const from = availableHere(this.#claimContext, window);
		const free = sumOfSplit(from);
		const callerMaximum = this.#request.callerMaxTokens;
		const tokens = callerMaximum ?? fullTokens(this.#request);
		const worst = worstNano(this.#request, this.#promptTokens, tokens);
		if (worst <= (callerMaximum === null ? free / 2 : free)) {
			const result = this.#take(window, from, worst, tokens, false);
			if (result !== undefined) return result;
		}
		if (!this.#counted && !mustDecide && this.moreMoneyHelps()) return undefined;
		// If not even the smallest prompt fits, counting is useless. A store that could not grant all granted nothing.
		const reach = sumOfSplit(availableAnywhere(this.#claimContext, window));
		if (!this.#counted && !this.#cannotFit(reach)) return COUNT_FIRST;
		return callerMaximum === null
			? this.#lowered(window, from, free, tokens, mustDecide)
			: this.#doesNotFit(window, worst, reach, mustDecide);
	}

	/** Returns true if no count of the prompt could make it fit. */
	#cannotFit(reach: number): boolean {
		const request = this.#request;
		const floor = request.callerMaxTokens === null ? Math.min(FLOOR_TOKENS, fullTokens(request)) : 1;
		return worstNano(request, request.promptTokensAtLeast, floor) > reach;
	}

	shortfall(): number {
		const free = sumOfSplit(availableHere(this.#claimContext, windowOf(this.#claimContext)));
		return Math.min(Math.max(0, this.#needed() - free), Number.MAX_SAFE_INTEGER);
	}

	usableElsewhere(): UsableMoney | undefined {
		return usableElsewhere(this.#claimContext);
	}

	moreMoneyHelps(): boolean {
		return moreMoneyHelps(this.#claimContext, this.#needed());
	}

	caps(): CapClaim | undefined {
		return capClaim(this.#claimContext, () => this.#needed());
	}

	/**
	 * Returns the free money that serves the claim: with its full output or, once the prompt is counted, with the least
	 * output.
	 */
	#needed(): number {
		const callerMaximum = this.#request.callerMaxTokens;
		if (callerMaximum !== null) return worstNano(this.#request, this.#promptTokens, callerMaximum);
		if (this.#counted) return this.#leastNeed();
		// An output whose maximum the caller did not set may take half of what is free.
		return 2 * worstNano(this.#request, this.#promptTokens, fullTokens(this.#request));
	}

	#leastNeed(): number {
		const floor = Math.min(FLOOR_TOKENS, fullTokens(this.#request));
		return Math.max(worstNano(this.#request, this.#promptTokens, floor), 2 * outputNano(this.#request, floor));
	}

	#take(window: SpendingWindow | null, from: Split, amount: number, tokens: number, lowered: boolean): CeilingResult | undefined {
		const ownSplit = takeInOrder(amount, from);
		if (ownSplit === undefined) return undefined;
		return {
			hold: openHold(this.#claimContext, window, nano(amount), ownSplit),
			spliceMaxTokens: lowered ? tokens : null,
			maxTokens: tokens,
		};
	}

	#lowered(
		window: SpendingWindow | null,
		from: Split,
		free: number,
		full: number,
		mustDecide: boolean,
	): CeilingResult | undefined {
		const request = this.#request;
		const floor = Math.min(FLOOR_TOKENS, full);
		const affordable = affordableTokens(request, this.#promptTokens, free);
		const fitsFull = affordable >= full;
		// The counted prompt is 10 % above the real one: that margin alone must not push the output below the floor.
		const inContext = Math.max(floor, request.contextTokens - this.#promptTokens);
		const tokens = fitsFull ? full : Math.min(affordable, inContext);
		if (tokens >= floor) {
			const amount = worstNano(request, this.#promptTokens, tokens);
			const result = this.#take(window, from, amount, tokens, !fitsFull);
			if (result !== undefined) return result;
		}
		if (!mustDecide && !exceedsCaps(window, this.#leastNeed())) return undefined;
		return refuse(this.#claimContext, window, this.#leastNeed(), {
			advice: `that is the least for the prompt and an answer of ${floor} tokens`,
		});
	}

	#doesNotFit(window: SpendingWindow | null, worst: number, reach: number, mustDecide: boolean): undefined {
		if (!mustDecide && !exceedsCaps(window, worst)) return undefined;
		const fitting = fittingTokens(this.#request, this.#promptTokens, reach);
		const advice = fitting >= 1 ? `max_tokens: ${fitting} would fit` : "not even the prompt fits";
		return refuse(this.#claimContext, window, worst, { advice, param: "max_tokens" });
	}
}
