import type { Budgets, Caller, Hold, Posted, PostInput, RateState } from "../budgets/port.ts";
import type { Settlement } from "./endpoint.ts";

/**
 * Settles a hold once: the first post or void counts. It also settles the minute's tokens, and keeps the post's
 * durability for the pipeline.
 */
class RequestSettlement implements Settlement {
	#hold: Hold | null;
	#durable: Promise<void> | null = null;
	readonly heldNano: number;
	readonly #settleTokens: (tokens: number) => void;
	readonly #onPost: ((posted: Posted, input: PostInput) => void) | undefined;

	constructor(hold: Hold, settleTokens: (tokens: number) => void, onPost?: (posted: Posted, input: PostInput) => void) {
		this.#onPost = onPost;
		this.#hold = hold;
		this.heldNano = hold.amount;
		this.#settleTokens = settleTokens;
	}

	get settled(): boolean {
		return this.#hold === null;
	}

	/** null if nothing was posted. */
	get durable(): Promise<void> | null {
		return this.#durable;
	}

	post(input: PostInput): Posted | null {
		const hold = this.#hold;
		if (hold === null) return null;
		this.#hold = null;
		const posted = hold.post(input);
		this.#durable = posted?.durable ?? null;
		if (posted !== null) this.#onPost?.(posted, input);
		this.#settleTokens(input.usage === null ? 0 : input.usage.promptTokens + input.usage.completionTokens);
		return posted;
	}

	void(): void {
		const hold = this.#hold;
		if (hold === null) return;
		this.#hold = null;
		hold.void();
		this.#settleTokens(0);
	}
}

/** The part of its minute window that a request used. */
export interface TakenRate {
	readonly subject: string;
	readonly promptTokens: number;
	readonly state: RateState;
}

/** Creates the settlement of one admitted request. `onPost` is called with its post. */
export function settlementOf(
	budgets: Budgets,
	caller: Caller,
	rate: TakenRate,
	hold: Hold,
	onPost?: (posted: Posted, input: PostInput) => void,
): RequestSettlement {
	const { subject, promptTokens, state } = rate;
	return new RequestSettlement(hold, (tokens) => budgets.settleTokens(caller, subject, promptTokens, tokens, state), onPost);
}
