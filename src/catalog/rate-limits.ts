import type { RateLimit } from "../budgets/port.ts";
import type { Config } from "../config/index.ts";
import type { AccountTier } from "../store/port.ts";
import type { TextModel } from "./types.ts";

/** Returns the requests and tokens per minute that an account has of a text model: by the model's tier, or `limits.default`. */
export function textRateLimit(model: Pick<TextModel, "tier">, accountTier: AccountTier, limits: Config["limits"]): RateLimit {
	const tier = model.tier === undefined ? undefined : limits.tiers[model.tier];
	if (tier === undefined) return limits.default;
	const partner = accountTier !== "paid";
	return {
		requestsPerMinute: (partner ? tier.partnerRequestsPerMinute : undefined) ?? tier.requestsPerMinute,
		tokensPerMinute: (partner ? tier.partnerTokensPerMinute : undefined) ?? tier.tokensPerMinute,
	};
}

/** Returns the requests per minute that an account may make to each image model. */
export function imageRateLimit(tier: AccountTier, limits: Config["limits"]): RateLimit {
	return { requestsPerMinute: tier === "paid" ? limits.imageRequestsPerMinute : limits.imagePartnerRequestsPerMinute };
}

/** Returns the requests per minute that an account may make to each audio model. */
export function audioRateLimit(tier: AccountTier, limits: Config["limits"]): RateLimit {
	return { requestsPerMinute: tier === "paid" ? limits.audioRequestsPerMinute : limits.audioPartnerRequestsPerMinute };
}
