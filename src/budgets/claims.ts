import { type Nano, nano } from "../ledger/nano.ts";
import type { CachedKey } from "./cached-key.ts";
import { affordableTokens, FLOOR_TOKENS, fittingTokens, fullTokens, worstNano } from "./ceiling.ts";
import { type Claim, unavailable } from "./lease-queue.ts";
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

/** A fixed worst case: held in full or refused. */
export class FixedClaim implements Claim<OpenHold> {
	readonly day: number;
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
		const capsForbid = window !== null && window.roomDiem + window.roomUsd < this.#amount;
		if (!last && !capsForbid) return undefined;
		return refuse(this.#asker, window, this.#amount);
	}

	lack(): number {
		return Math.max(0, this.#amount - total(spendable(this.#asker, windowOf(this.#asker))));
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
		if (!this.#counted) return last ? COUNT_FIRST : undefined;
		return asked === null ? this.#lowered(window, from, free, tokens) : this.#doesNotFit(window, worst, free);
	}

	lack(): number {
		const tokens = this.#request.callerMaxTokens ?? fullTokens(this.#request);
		const worst = worstNano(this.#request, this.#promptTokens, tokens);
		const free = total(spendable(this.#asker, windowOf(this.#asker)));
		return Math.min(Math.max(0, worst - free), Number.MAX_SAFE_INTEGER);
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

	#lowered(window: SpendingWindow | null, from: Split, free: number, full: number): CeilingResult {
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
		const output = worstNano(request, 0, floor);
		const need = Math.max(worstNano(request, this.#promptTokens, floor), 2 * output);
		return refuse(this.#asker, window, need, { advice: `that is the least for the prompt and an answer of ${floor} tokens` });
	}

	#doesNotFit(window: SpendingWindow | null, worst: number, free: number): never {
		const fitting = fittingTokens(this.#request, this.#promptTokens, free);
		const advice = fitting >= 1 ? `max_tokens: ${fitting} would fit` : "not even the prompt fits";
		return refuse(this.#asker, window, worst, { advice, param: "max_tokens" });
	}
}
