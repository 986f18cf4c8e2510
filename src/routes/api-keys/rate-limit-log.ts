import Type from "typebox";
import { named } from "../../schema/named-schema.ts";
import type { Call } from "../../server/call.ts";
import { type Answer, json } from "../../server/endpoint.ts";
import { type ApiKeyDeps, callerOf } from "./deps.ts";

export const RateLimitLogSchema = named(
	"RateLimitLog",
	Type.Object({
		object: Type.Literal("list"),
		data: Type.Array(
			Type.Object(
				{
					apiKeyId: Type.String(),
					modelId: Type.String({ description: "For a limit without a model: the name of the endpoint" }),
					rateLimitTier: Type.String(),
					rateLimitType: Type.Enum(["RPD", "RPM", "TPM", "FAILED_REQUESTS", "UNSUPPORTED_FEATURE_REQUESTS"]),
					timestamp: Type.String({ format: "date-time" }),
				},
				{ additionalProperties: false },
			),
		),
	}),
);

/** GET /api_keys/rate_limits/log: the account's last 50 requests that a limit refused, newest first. */
export async function rateLimitLog(call: Call, { exceededLimits }: ApiKeyDeps): Promise<Answer> {
	const entries = await exceededLimits.latest(callerOf(call).account.id);
	const data = entries.map((entry) => ({
		apiKeyId: entry.keyId,
		modelId: entry.modelId,
		rateLimitTier: entry.tier,
		rateLimitType: entry.kind,
		timestamp: new Date(entry.atMs).toISOString(),
	}));
	return json({ object: "list", data });
}
