import { ApiError } from "../errors/index.ts";
import { FairQueue } from "../fairness/index.ts";

/** Maximum number of calls of all accounts that wait for one upstream. */
const MAX_WAITING = 256;
/** From this number of places on, one is reserved, so that an account with long calls cannot hold all. */
const LEAST_WITH_RESERVE = 4;

/**
 * Creates the places for the calls that one upstream runs at once; accounts take turns (`maxConcurrent`, Infinity: no
 * limit).
 */
export function callSlots(maxConcurrent: number): FairQueue {
	return new FairQueue({
		...boundsOf(maxConcurrent),
		maxWaiting: MAX_WAITING,
		overflow: () => new ApiError("MODEL_AT_CAPACITY", { retryAfterSeconds: 1 }),
	});
}

/** Adapts the places to new settings; calls under way keep theirs. */
export function resizeCallSlots(places: FairQueue, maxConcurrent: number): FairQueue {
	places.resize(boundsOf(maxConcurrent));
	return places;
}

function boundsOf(maxConcurrent: number): { readonly places: number; readonly reserve: boolean } {
	const reserve = Number.isFinite(maxConcurrent) && maxConcurrent >= LEAST_WITH_RESERVE;
	return { places: reserve ? maxConcurrent - 1 : maxConcurrent, reserve };
}
