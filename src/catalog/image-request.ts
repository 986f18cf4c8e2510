/** The rate limit of image models, and the sum of a charge's lines. */
import type { RateLimit } from "../budgets/port.ts";
import type { Config } from "../config/index.ts";
import { addNano, lineNano, type Nano, nano, type PicoPrice } from "../ledger/nano.ts";
import type { AccountTier } from "../store/port.ts";

/** Returns the requests per minute that an account may make to each image model. */
export function imageRateLimit(tier: AccountTier, limits: Config["limits"]): RateLimit {
	return { requestsPerMinute: tier === "paid" ? limits.imageRequestsPerMinute : limits.imagePartnerRequestsPerMinute };
}

/** Returns the sum of a charge's lines in nano-USD; each line is rounded half up, as it is posted. */
export function linesNano(lines: readonly { readonly units: number; readonly picoPrice: PicoPrice }[]): Nano {
	return lines.reduce((sum, { units, picoPrice }) => addNano(sum, lineNano(units, picoPrice)), nano(0));
}
