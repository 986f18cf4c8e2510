import { ApiError } from "../errors/index.ts";
import { FairQueue } from "../fairness/index.ts";

/** Calls that wait for one upstream, of all accounts. */
const MAX_WAITING = 256;
/** From so many places on one is kept: an account with long calls cannot hold all of them. */
const LEAST_WITH_RESERVE = 4;

/** The places of the calls that one upstream runs at once: accounts take turns (`maxConcurrent`, Infinity: no bound). */
export function callSlots(maxConcurrent: number): FairQueue {
	return new FairQueue({
		...boundsOf(maxConcurrent),
		maxWaiting: MAX_WAITING,
		overflow: () => new ApiError("MODEL_AT_CAPACITY", { retryAfterSeconds: 1 }),
	});
}

/** What new settings make of the places; calls under way go on. */
export function resizeCallSlots(places: FairQueue, maxConcurrent: number): FairQueue {
	places.resize(boundsOf(maxConcurrent));
	return places;
}

function boundsOf(maxConcurrent: number): { readonly places: number; readonly reserve: boolean } {
	const reserve = Number.isFinite(maxConcurrent) && maxConcurrent >= LEAST_WITH_RESERVE;
	return { places: reserve ? maxConcurrent - 1 : maxConcurrent, reserve };
}
