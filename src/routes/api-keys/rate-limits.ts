import Type from "typebox";
import { KeyLimitSchema, keyLimitsView, mayUseModel, spendableNano } from "../../access/index.ts";
import { NANO_PER_USD } from "../../budgets/index.ts";
import { leastTextPrice, textRateLimit } from "../../catalog/index.ts";
import type { TextModel } from "../../catalog/types.ts";
import { closed } from "../../schema/closed.ts";
import { named } from "../../schema/named-schema.ts";
import type { Call } from "../../server/call.ts";
import { type Answer, json } from "../../server/endpoint.ts";
import { type ApiKeyDeps, callerOf } from "./deps.ts";

const DAY_MS = 86_400_000;

export const RateLimitsSchema = named(
	"RateLimits",
	closed({
		data: closed({
			accessPermitted: Type.Boolean({
				description: "true: the account's money, within the limits of this key, pays for the cheapest chat",
			}),
			apiTier: closed({ id: Type.String(), isCharged: Type.Boolean() }),
			balances: closed({ USD: Type.Number({ description: "Including bundled credit" }), DIEM: Type.Number() }),
			keyExpiration: Type.Union([Type.String({ format: "date-time" }), Type.Null()]),
			nextEpochBegins: Type.String({ format: "date-time" }),
			keyLimits: Type.Array(KeyLimitSchema, { description: "Limits of this key. Empty: it has none" }),
			rateLimits: Type.Array(
				closed({
					apiModelId: Type.String(),
					rateLimits: Type.Array(closed({ amount: Type.Number(), type: Type.Enum(["RPM", "RPD", "TPM"]) })),
				}),
			),
		}),
	}),
);

/** GET /api_keys/rate_limits: what the calling key may use now. */
export async function rateLimits(call: Call, deps: ApiKeyDeps): Promise<Answer> {
	const caller = callerOf(call);
	const { account, key } = caller;
	const nowMs = call.admittedAtMs;
	const balances = caller.balances();
	const standing = await deps.keys.get(account.id, key.id, nowMs);
	const { expiresAtMs } = key;
	const least = leastTextPrice(deps.textModels().filter(({ id }) => mayUseModel(caller, id)));
	const spendable = spendableNano(standing, balances);
	return json({
		data: {
			accessPermitted: spendable > 0 && spendable >= least,
			apiTier: { id: account.tier, isCharged: true },
			balances: { USD: balances.usd / NANO_PER_USD, DIEM: balances.diem / NANO_PER_USD },
			keyExpiration: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString(),
			nextEpochBegins: new Date((Math.floor(nowMs / DAY_MS) + 1) * DAY_MS).toISOString(),
			keyLimits: keyLimitsView(standing, nowMs),
			rateLimits: deps.textModels().map((model) => limitsOf(model, call, deps)),
		},
	});
}

function limitsOf(model: TextModel, call: Call, deps: ApiKeyDeps) {
	const { requestsPerMinute, tokensPerMinute } = textRateLimit(model, callerOf(call).account.tier, deps.limits());
	const requests = { amount: requestsPerMinute, type: "RPM" };
	const limits = tokensPerMinute === undefined ? [requests] : [requests, { amount: tokensPerMinute, type: "TPM" }];
	return { apiModelId: model.id, rateLimits: limits };
}
