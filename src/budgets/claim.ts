import type { CapAnswer, CapRequest, UsableMoney } from "../store/port.ts";
import type { CapHolder } from "./leased-caps.ts";

/** A request that waits for money. */
export interface Claim<T> {
	/** UTC day of the admission. */
	readonly day: number;
	/**
	 * Makes one synchronous attempt. Returns undefined if more money could help and `mustDecide` is false. With `mustDecide` it
	 * decides: it returns a result or throws a refusal. It may refuse earlier where no money would help.
	 */
	attempt(mustDecide: boolean): T | undefined;
	/** Returns the missing amount in nano-USD, which the next store call acquires. */
	shortfall(): number;
	/**
	 * Returns the amount that the claim could use beyond what is free on this node; undefined: any amount of any
	 * source.
	 */
	usableElsewhere(): UsableMoney | undefined;
	/**
	 * Returns false if this node already has the money that the claim could use: only the caps of its key block it.
	 */
	moreMoneyHelps(): boolean;
	/** True if less than the shortfall helps too. */
	readonly allowPartial: boolean;
	/** Returns what the claim needs of its key's limits, where these are leased too. */
	caps?(): CapClaim | undefined;
}

/** What a claim needs of its key's limits. */
export interface CapClaim {
	/** Identifies the limits: claims with the same object need the same limits. */
	readonly window: object;
	readonly holder: CapHolder;
	request(): CapRequest;
	/** Applies the store's answer. Returns false if the key has other limits meanwhile: the grant must be returned. */
	applyAnswer(answer: CapAnswer): boolean;
}
