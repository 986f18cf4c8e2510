/** What the image routes ask of the catalog beside the model: how often it may be asked. */
import type { RateLimit } from "../budgets/port.ts";
import type { Config } from "../config/index.ts";
import type { AccountTier } from "../store/port.ts";

/** Requests a minute that an account has of each image model. */
export function imageRateLimit(tier: AccountTier, limits: Config["limits"]): RateLimit {
	return { requestsPerMinute: tier === "paid" ? limits.imageRequestsPerMinute : limits.imagePartnerRequestsPerMinute };
}
