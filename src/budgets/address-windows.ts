import { addressNetwork } from "../fairness/index.ts";
import type { Clock } from "../telemetry/clock.ts";
import type { RateState } from "./port.ts";
import { RateWindows } from "./rate-windows.ts";

/** Callers can easily use many addresses: past this number the oldest window is forgotten. */
const MAX_ADDRESSES = 50_000;

/** The minute windows of callers without a credential, one for each network (`addressNetwork`) and subject. */
export class AddressWindows {
	readonly #windows: RateWindows;

	constructor(clock: Clock) {
		this.#windows = new RateWindows(clock, MAX_ADDRESSES);
	}

	/** Takes one request. Throws RATE_LIMIT_EXCEEDED, and then takes nothing. */
	take(address: string, subject: string, requestsPerMinute: number): RateState {
		return this.#windows.take(addressNetwork(address), subject, { requestsPerMinute }, 0);
	}
}
