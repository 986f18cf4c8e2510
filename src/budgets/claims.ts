import { type Nano, nano } from "../ledger/nano.ts";
import type { UsableMoney } from "../store/port.ts";
import type { CachedKey } from "./cached-key.ts";
import { affordableTokens, FLOOR_TOKENS, fittingTokens, fullTokens, outputNano, worstNano } from "./ceiling.ts";
import type { CapClaim, Claim } from "./claim.ts";
import { unavailable } from "./lease-queue.ts";
import { type HoldRoom, OpenHold } from "./open-hold.ts";
import type { CeilingRequest, CeilingResult, HoldContext } from "./port.ts";
import { type Refused, refusal } from "./refusal.ts";
import type { SpendingWindow } from "./spending-window.ts";
import { type Split, take, total, withinCaps } from "./split.ts";

/** Who asks for money, and from where it would come. */
export interface Asker {
	readonly room: HoldRoom;
	readonly key: CachedKey;
	readonly context: HoldContext;
	readonly day: number;
}

/** What the caller may hold now, source by source: free money, cut by the key's caps. */
function spendable({ key, day }: Asker, window: SpendingWindow | null): Split {
	const free = key.cached.money.free(day);
	return window === null ? free : withinCaps(free, window.roomDiem, window.roomUsd);
}

/** What the caps let the caller use of all that the account has beside this node's holds, whoever has it leased. */
function withinReach({ key, day }: Asker, window: SpendingWindow | null): Split {
	const anywhere = key.cached.money.anywhere(day);
	if (window === null) return anywhere;
	const { diem, usd } = window.most;
	return withinCaps(anywhere, diem, usd);
}

/** What the key's caps let a request use beyond what is free here. */
function usable(asker: Asker): UsableMoney | undefined {
	const window = windowOf(asker);
	if (window === null) return undefined;
	const { diem, bundled, usd } = asker.key.cached.money.free(asker.day);
	return { diem: Math.max(0, window.roomDiem - diem), usd: Math.max(0, window.roomUsd - bundled - usd) };
}

/** What the claim needs of the key's limits, where they are leased. */
function capClaim({ key, day }: Asker, amount: () => number): CapClaim | undefined {
	const window = key.window(day);
	if (!window?.leases) return undefined;
	return {
		window,
		holder: key,
		ask: () => {
			const { diem, bundled, usd } = key.cached.money.free(day);
			const most = Math.min(amount(), Number.MAX_SAFE_INTEGER);
			return { keyId: key.keyId, amount: most, money: { diem, usd: bundled + usd }, room: window.leaseRoom };
		},
		take: (answer) => {
			window.grow(answer);
			return key.has(window);
		},
	};
}

/** True where the account has money elsewhere that the caps would let this claim use, or the caps themselves have more. */
function moneyHelps(asker: Asker, needed: number): boolean {
	const window = windowOf(asker);
	const usable = total(withinReach(asker, window));
	const capsForbid = window !== null && usable < needed && usable < total(asker.key.cached.money.anywhere(asker.day));
	return !(capsForbid && total(spendable(asker, window)) >= usable);
}

/** The key's window at this moment. It was known when the claim began; a change of period may have dropped it since. */
function windowOf({ key, day }: Asker): SpendingWindow | null {
	const window = key.window(day);
	if (window === undefined) throw unavailable(new Error("the key's limit period changed while a request waited"));
	return window;
}

function open(asker: Asker, window: SpendingWindow | null, amount: Nano, own: Split): OpenHold {
	return new OpenHold(asker.room, asker.key, asker.context, asker.day, window, amount, own);
}

function refuse(asker: Asker, window: SpendingWindow | null, needNano: number, more?: Pick<Refused, "advice" | "param">): never {
	throw refusal({ money: asker.key.cached.money, day: asker.day, window, needNano, ...more });
}

/** True where the key's caps forbid it, however much money comes. */
function capped(window: SpendingWindow | null, amount: number): boolean {
	return window !== null && window.most.diem + window.most.usd < amount;
}

/** A fixed worst case: held in full or refused. */
export class FixedClaim implements Claim<OpenHold> {
	readonly day: number;
	readonly part = false;
	readonly #asker: Asker;
	readonly #amount: Nano;

	constructor(asker: Asker, amount: Nano) {
		this.#asker = asker;
		this.#amount = amount;
		this.day = asker.day;
	}

	attempt(last: boolean): OpenHold | undefined {
		const window = windowOf(this.#asker);
		const own = take(this.#amount, spendable(this.#asker, window));
		if (own !== undefined) return open(this.#asker, window, this.#amount, own);
		if (!last && !capped(window, this.#amount)) return undefined;
		return refuse(this.#asker, window, this.#amount);
	}

	lack(): number {
		return Math.max(0, this.#amount - total(spendable(this.#asker, windowOf(this.#asker))));
	}

	usable(): UsableMoney | undefined {
		return usable(this.#asker);
	}

	moneyHelps(): boolean {
		return moneyHelps(this.#asker, this.#amount);
	}

	caps(): CapClaim | undefined {
		return capClaim(this.#asker, () => this.#amount);
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
	readonly #asker: Asker;
	readonly #request: CeilingRequest;
	#promptTokens: number;
	#counted = false;

	constructor(asker: Asker, request: CeilingRequest) {
		this.#asker = asker;
		this.#request = request;
		this.#promptTokens = request.promptTokensBound;
		this.day = asker.day;
	}

	/** Without a maximum of the caller's the output is cut to what there is. */
	get part(): boolean {
		return this.#request.callerMaxTokens === null && !this.#counted;
	}

	/** The prompt's exact count; the cheap bound stays where that is lower, or where nothing could be counted. */
	counted(promptTokens: number): void {
		if (promptTokens >= 0 && promptTokens < this.#promptTokens) this.#promptTokens = Math.ceil(promptTokens);
		this.#counted = true;
	}

	attempt(last: boolean): CeilingResult | typeof COUNT_FIRST | undefined {
		const window = windowOf(this.#asker);
		const from = spendable(this.#asker, window);
		const free = total(from);
		const asked = this.#request.callerMaxTokens;
		const tokens = asked ?? fullTokens(this.#request);
		const worst = worstNano(this.#request, this.#promptTokens, tokens);
		if (worst <= (asked === null ? free / 2 : free)) {
			const result = this.#take(window, from, worst, tokens, false);
			if (result !== undefined) return result;
		}
		if (!this.#counted && !last && this.moneyHelps()) return undefined;
		// Where not even the least prompt fits there is nothing to count for. A store that could not give all gave nothing.
		const reach = total(withinReach(this.#asker, window));
		if (!this.#counted && !this.#hopeless(reach)) return COUNT_FIRST;
		return asked === null ? this.#lowered(window, from, free, tokens, last) : this.#doesNotFit(window, worst, reach, last);
	}

	/** True where no count of the prompt could make it fit. */
	#hopeless(reach: number): boolean {
		const request = this.#request;
		const floor = request.callerMaxTokens === null ? Math.min(FLOOR_TOKENS, fullTokens(request)) : 1;
		return worstNano(request, request.promptTokensAtLeast, floor) > reach;
	}

	lack(): number {
		const free = total(spendable(this.#asker, windowOf(this.#asker)));
		return Math.min(Math.max(0, this.#needed() - free), Number.MAX_SAFE_INTEGER);
	}

	usable(): UsableMoney | undefined {
		return usable(this.#asker);
	}

	moneyHelps(): boolean {
		return moneyHelps(this.#asker, this.#needed());
	}

	caps(): CapClaim | undefined {
		return capClaim(this.#asker, () => this.#needed());
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
		const own = take(amount, from);
		if (own === undefined) return undefined;
		return {
			hold: open(this.#asker, window, nano(amount), own),
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
		if (!last && !capped(window, this.#leastNeed())) return undefined;
		return refuse(this.#asker, window, this.#leastNeed(), {
			advice: `that is the least for the prompt and an answer of ${floor} tokens`,
		});
	}

	#doesNotFit(window: SpendingWindow | null, worst: number, reach: number, last: boolean): undefined {
		if (!last && !capped(window, worst)) return undefined;
		const fitting = fittingTokens(this.#request, this.#promptTokens, reach);
		const advice = fitting >= 1 ? `max_tokens: ${fitting} would fit` : "not even the prompt fits";
		return refuse(this.#asker, window, worst, { advice, param: "max_tokens" });
	}
}
