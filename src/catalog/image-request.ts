/** What the image routes ask of the catalog beside the model: how often it may be asked, and what lines come to. */
import type { RateLimit } from "../budgets/port.ts";
import type { Config } from "../config/index.ts";
import { addNano, lineNano, type Nano, nano, type PicoPrice } from "../ledger/nano.ts";
import type { AccountTier } from "../store/port.ts";

/** Requests a minute that an account has of each image model. */
export function imageRateLimit(tier: AccountTier, limits: Config["limits"]): RateLimit {
	return { requestsPerMinute: tier === "paid" ? limits.imageRequestsPerMinute : limits.imagePartnerRequestsPerMinute };
}

/** What the lines of a charge come to, in nano-USD: each is rounded half up, as it is booked. */
export function linesNano(lines: readonly { readonly units: number; readonly picoPrice: PicoPrice }[]): Nano {
	return lines.reduce((sum, { units, picoPrice }) => addNano(sum, lineNano(units, picoPrice)), nano(0));
}
