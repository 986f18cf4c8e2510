import type { CapAnswer, CapRequest, UsableMoney } from "../store/port.ts";
import type { CapHolder } from "./leased-caps.ts";

/** A request's wish for money. */
export interface Claim<T> {
	/** UTC day of the admission. */
	readonly day: number;
	/**
	 * One synchronous try. Returns undefined where more money could help and `last` is false; with `last` it
	 * decides: a result, or a thrown refusal. May refuse earlier where no money would help.
	 */
	attempt(last: boolean): T | undefined;
	/** What is missing for it, in nano-USD: the need of a store trip. */
	shortfall(): number;
	/** What it could use beyond what is free here; undefined: any amount of any source. */
	usableMoney(): UsableMoney | undefined;
	/** False where the money that it could use is here: only the caps of its key stand in its way. */
	canBeFunded(): boolean;
	/** Less than what it lacks helps, too. */
	readonly allowPartial: boolean;
	/** Where the limits of its key are leased, too: what it needs of them. */
	caps?(): CapClaim | undefined;
}

/** What a claim needs of its key's limits. */
export interface CapClaim {
	/** Stands for the limits: claims with the same one need the same. */
	readonly window: object;
	readonly holder: CapHolder;
	request(): CapRequest;
	/** False where the key has other limits meanwhile: what was granted has to go back. */
	applyAnswer(answer: CapAnswer): boolean;
}
