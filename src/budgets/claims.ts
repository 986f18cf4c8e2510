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

/** Who asks for money, and from where it would come. */
export interface ClaimContext {
	readonly deps: HoldDeps;
	readonly key: CachedKey;
	readonly context: HoldContext;
	readonly day: number;
}

/** What the caller may hold now, source by source: free money, cut by the key's caps. */
function spendable({ key, day }: ClaimContext, window: SpendingWindow | null): Split {
	const free = key.cached.money.free(day);
	return window === null ? free : withinCaps(free, window.roomDiem, window.roomUsd);
}

/** What the caps let the caller use of all that the account has beside this node's holds, whoever has it leased. */
function fundableMoney({ key, day }: ClaimContext, window: SpendingWindow | null): Split {
	const anywhere = key.cached.money.freeAnywhere(day);
	if (window === null) return anywhere;
	const { diem, usd } = window.spendable;
	return withinCaps(anywhere, diem, usd);
}

/** What the key's caps let a request use beyond what is free here. */
function usableMoney(claimContext: ClaimContext): UsableMoney | undefined {
	const window = windowOf(claimContext);
	if (window === null) return undefined;
	const { diem, bundled, usd } = claimContext.key.cached.money.free(claimContext.day);
	return { diem: Math.max(0, window.roomDiem - diem), usd: Math.max(0, window.roomUsd - bundled - usd) };
}

/** What the claim needs of the key's limits, where they are leased. */
function capClaim({ key, day }: ClaimContext, amount: () => number): CapClaim | undefined {
	const window = key.window(day);
	if (!window?.leases) return undefined;
	return {
		window,
		holder: key,
		request: () => {
			const { diem, bundled, usd } = key.cached.money.free(day);
			const most = Math.min(amount(), Number.MAX_SAFE_INTEGER);
			return { keyId: key.keyId, amount: most, money: { diem, usd: bundled + usd }, room: window.leaseRoom };
		},
		applyAnswer: (answer) => {
			window.grow(answer);
			return key.has(window);
		},
	};
}

/** True where the account has money elsewhere that the caps would let this claim use, or the caps themselves have more. */
function canBeFunded(claimContext: ClaimContext, needed: number): boolean {
	const window = windowOf(claimContext);
	const usable = sumOfSplit(fundableMoney(claimContext, window));
	const capsForbid =
		window !== null && usable < needed && usable < sumOfSplit(claimContext.key.cached.money.freeAnywhere(claimContext.day));
	return !(capsForbid && sumOfSplit(spendable(claimContext, window)) >= usable);
}

/** The key's window at this moment. It was known when the claim began; a change of period may have dropped it since. */
function windowOf({ key, day }: ClaimContext): SpendingWindow | null {
	const window = key.window(day);
	if (window === undefined) throw accountsUnavailable(new Error("the key's limit period changed while a request waited"));
	return window;
}

function openHold(claimContext: ClaimContext, window: SpendingWindow | null, amount: Nano, own: Split): OpenHold {
	return new OpenHold(claimContext.deps, claimContext.key, claimContext.context, claimContext.day, window, amount, own);
}

function refuse(
	claimContext: ClaimContext,
	window: SpendingWindow | null,
	needNano: number,
	more?: Pick<UnfundedRequest, "advice" | "param">,
): never {
	throw paymentRefusal({ money: claimContext.key.cached.money, day: claimContext.day, window, needNano, ...more });
}

/** True where the key's caps forbid it, however much money comes. */
function exceedsCaps(window: SpendingWindow | null, amount: number): boolean {
	return window !== null && window.spendable.diem + window.spendable.usd < amount;
}

/** A fixed worst case: held in full or refused. */
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

	attempt(last: boolean): OpenHold | undefined {
		const window = windowOf(this.#claimContext);
		const own = takeInOrder(this.#amount, spendable(this.#claimContext, window));
		if (own !== undefined) return openHold(this.#claimContext, window, this.#amount, own);
		if (!last && !exceedsCaps(window, this.#amount)) return undefined;
		return refuse(this.#claimContext, window, this.#amount);
	}

	shortfall(): number {
		return Math.max(0, this.#amount - sumOfSplit(spendable(this.#claimContext, windowOf(this.#claimContext))));
	}

	usableMoney(): UsableMoney | undefined {
		return usableMoney(this.#claimContext);
	}

	canBeFunded(): boolean {
		return canBeFunded(this.#claimContext, this.#amount);
	}

	caps(): CapClaim | undefined {
		return capClaim(this.#claimContext, () => this.#amount);
	}
}

/** The bound of the prompt does not fit: the prompt has to be counted before this claim can be decided. */
export const COUNT_FIRST = Symbol("count the prompt first");

/**
 * The output ceiling of a chat request. First with the cheap bound of the prompt; where that does not fit even
 * after a store trip, COUNT_FIRST: then `counted` and once more, which decides.
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

	/** Without a maximum of the caller's the output is cut to what there is. */
	get allowPartial(): boolean {
		return this.#request.callerMaxTokens === null && !this.#counted;
	}

	/** The prompt's exact count; the cheap bound stays where that is lower, or where nothing could be counted. */
	counted(promptTokens: number): void {
		if (promptTokens >= 0 && promptTokens < this.#promptTokens) this.#promptTokens = Math.ceil(promptTokens);
		this.#counted = true;
	}

	attempt(last: boolean): CeilingResult | typeof COUNT_FIRST | undefined {
		const window = windowOf(this.#claimContext);
		const from = spendable(this.#claimContext, window);
		const free = sumOfSplit(from);
		const asked = this.#request.callerMaxTokens;
		const tokens = asked ?? fullTokens(this.#request);
		const worst = worstNano(this.#request, this.#promptTokens, tokens);
		if (worst <= (asked === null ? free / 2 : free)) {
			const result = this.#take(window, from, worst, tokens, false);
			if (result !== undefined) return result;
		}
		if (!this.#counted && !last && this.canBeFunded()) return undefined;
		// Where not even the least prompt fits there is nothing to count for. A store that could not give all gave nothing.
		const reach = sumOfSplit(fundableMoney(this.#claimContext, window));
		if (!this.#counted && !this.#cannotFit(reach)) return COUNT_FIRST;
		return asked === null ? this.#lowered(window, from, free, tokens, last) : this.#doesNotFit(window, worst, reach, last);
	}

	/** True where no count of the prompt could make it fit. */
	#cannotFit(reach: number): boolean {
		const request = this.#request;
		const floor = request.callerMaxTokens === null ? Math.min(FLOOR_TOKENS, fullTokens(request)) : 1;
		return worstNano(request, request.promptTokensAtLeast, floor) > reach;
	}

	shortfall(): number {
		const free = sumOfSplit(spendable(this.#claimContext, windowOf(this.#claimContext)));
		return Math.min(Math.max(0, this.#needed() - free), Number.MAX_SAFE_INTEGER);
	}

	usableMoney(): UsableMoney | undefined {
		return usableMoney(this.#claimContext);
	}

	canBeFunded(): boolean {
		return canBeFunded(this.#claimContext, this.#needed());
	}

	caps(): CapClaim | undefined {
		return capClaim(this.#claimContext, () => this.#needed());
	}

	/** The free money that serves it: with its full output, or, once the prompt is counted, with the least. */
	#needed(): number {
		const asked = this.#request.callerMaxTokens;
		if (asked !== null) return worstNano(this.#request, this.#promptTokens, asked);
		if (this.#counted) return this.#leastNeed();
		// An output that nobody asked for may take half of what is free.
		return 2 * worstNano(this.#request, this.#promptTokens, fullTokens(this.#request));
	}

	#leastNeed(): number {
		const floor = Math.min(FLOOR_TOKENS, fullTokens(this.#request));
		return Math.max(worstNano(this.#request, this.#promptTokens, floor), 2 * outputNano(this.#request, floor));
	}

	#take(window: SpendingWindow | null, from: Split, amount: number, tokens: number, lowered: boolean): CeilingResult | undefined {
		const own = takeInOrder(amount, from);
		if (own === undefined) return undefined;
		return {
			hold: openHold(this.#claimContext, window, nano(amount), own),
			spliceMaxTokens: lowered ? tokens : null,
			maxTokens: tokens,
		};
	}

	#lowered(window: SpendingWindow | null, from: Split, free: number, full: number, last: boolean): CeilingResult | undefined {
		const request = this.#request;
		const floor = Math.min(FLOOR_TOKENS, full);
		const affordable = affordableTokens(request, this.#promptTokens, free);
		const whole = affordable >= full;
		// The counted prompt is 10 % more than the real one: that margin alone must not push the output below the floor.
		const inContext = Math.max(floor, request.contextTokens - this.#promptTokens);
		const tokens = whole ? full : Math.min(affordable, inContext);
		if (tokens >= floor) {
			const amount = worstNano(request, this.#promptTokens, tokens);
			const result = this.#take(window, from, amount, tokens, !whole);
			if (result !== undefined) return result;
		}
		if (!last && !exceedsCaps(window, this.#leastNeed())) return undefined;
		return refuse(this.#claimContext, window, this.#leastNeed(), {
			advice: `that is the least for the prompt and an answer of ${floor} tokens`,
		});
	}

	#doesNotFit(window: SpendingWindow | null, worst: number, reach: number, last: boolean): undefined {
		if (!last && !exceedsCaps(window, worst)) return undefined;
		const fitting = fittingTokens(this.#request, this.#promptTokens, reach);
		const advice = fitting >= 1 ? `max_tokens: ${fitting} would fit` : "not even the prompt fits";
		return refuse(this.#claimContext, window, worst, { advice, param: "max_tokens" });
	}
}
