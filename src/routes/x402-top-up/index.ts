/**
 * POST /x402/top-up: credits a wallet. Without a payment the answer says how to pay. With one it credits the payer the
 * amount that the chain proves. Public, since the wallet signs the payment. A payment is credited once, and its header
 * may be repeated. While it may still settle, no new payment is requested.
 */

import Type, { type Static } from "typebox";
import { type AddressWindows, NANO_PER_USD } from "../../budgets/index.ts";
import { ApiError } from "../../errors/index.ts";
import type { OfferRequest, TopUpService } from "../../payments/port.ts";
import { invalidField } from "../../schema/index.ts";
import { named } from "../../schema/named-schema.ts";
import type { Call } from "../../server/call.ts";
import { type Answer, type Endpoint, json, plain } from "../../server/endpoint.ts";
import { failedPayment, headerOf, paymentOf, paymentResponseHeaders, takePayment } from "./payment.ts";

export {
	type FailedPayment,
	failedPayment,
	headerOf,
	invalidPayment,
	paymentOf,
	paymentResponseHeaders,
	takePayment,
} from "./payment.ts";

export interface TopUpDeps {
	/** null: no receiver is configured. */
	readonly topUps: TopUpService | null;
	readonly addresses: AddressWindows;
	readonly topUpsPerMinute: () => number;
	/** Returns the address of this route as its caller knows it. */
	readonly urlOf: (request: Request) => string;
}

/** The minute window in which payments are counted, on this route and on others. */
export const TOP_UP_WINDOW = "x402-top-up";

const TopUpQuerySchema = Type.Object({
	x402Version: Type.Optional(
		Type.Integer({ minimum: 1, maximum: 2, description: "The x402 version of the offer's form; default 2" }),
	),
	amountUsd: Type.Optional(Type.Number({ exclusiveMinimum: 0, description: "The amount to offer; default: the minimum top-up" })),
});
type TopUpQuery = Static<typeof TopUpQuerySchema>;

const TopUpSchema = named(
	"TopUp",
	Type.Object({
		success: Type.Literal(true),
		data: Type.Object({
			walletAddress: Type.String({ description: "The payer" }),
			amountCredited: Type.Number({ description: "USD" }),
			newBalance: Type.Number({ description: "USD right after this credit. Each repeat returns the same" }),
			paymentId: Type.String(),
		}),
	}),
);

export function topUpRoute(parts: TopUpDeps): Endpoint {
	return plain({
		method: "POST",
		path: "/x402/top-up",
		name: "x402-top-up",
		tag: "Wallets",
		summary: "Top up a wallet in USDC",
		description:
			"Without a payment header: 402 with what can be paid (x402). With PAYMENT-SIGNATURE, X-402-Payment or X-PAYMENT: credits the payer what was signed, from 5 to 10,000 USD. The same header may be sent again: it is credited once.",
		openAi: false,
		x402: true,
		callers: ["none"],
		listLimit: false,
		query: TopUpQuerySchema,
		codes: [
			"PAYMENT_REQUIRED",
			"X402_INVALID_PAYMENT",
			"PAYMENT_VERIFICATION_FAILED",
			"API_ACCESS_DISABLED",
			"X402_SETTLEMENT_PENDING",
			"X402_FACILITATOR_UNAVAILABLE",
			"X402_NOT_CONFIGURED",
		],
		answer: { type: "application/json", schema: TopUpSchema, description: "The credited amount, with PAYMENT-RESPONSE" },
		run: ({ query }, call) => topUp(query, call, parts),
	});
}

async function topUp(query: TopUpQuery, call: Call, parts: TopUpDeps): Promise<Answer> {
	const { topUps, addresses, topUpsPerMinute } = parts;
	call.rate = addresses.take(call.address, TOP_UP_WINDOW, topUpsPerMinute());
	if (topUps === null) throw new ApiError("X402_NOT_CONFIGURED");
	const { request } = call;
	const payment = paymentOf(topUps, request);
	const offer = (error: string, headers: Readonly<Record<string, string>> = {}) =>
		topUpOffer(topUps, query, { url: parts.urlOf(request), error, headers });
	if (payment === null) throw offer("Payment required: sign one of the offers, for its amount or more");
	const outcome = await takePayment(topUps, payment, call);
	if (outcome.kind !== "credited") throw failedPayment(outcome, request, offer);
	const { walletAddress, amount, newBalance, paymentId } = outcome.payment;
	const credited = { walletAddress, amountCredited: amount / NANO_PER_USD, newBalance: newBalance / NANO_PER_USD, paymentId };
	return json({ success: true, data: credited }, 200, {
		...paymentResponseHeaders(request, outcome.response),
		...(outcome.first ? {} : { "Idempotent-Replayed": "true" }),
	});
}

/**
 * Returns the 402 of this route. The body contains only the accepted payments, and the header the complete version 2.
 */
function topUpOffer(
	{ offers }: TopUpService,
	{ x402Version = 2, amountUsd }: TopUpQuery,
	{ url, error, headers }: { readonly url: string; readonly error: string; readonly headers: Readonly<Record<string, string>> },
): ApiError {
	const { minimumUsd, maximumUsd } = offers.limits;
	if (amountUsd !== undefined && (amountUsd < minimumUsd || amountUsd > maximumUsd))
		throw invalidField(["amountUsd"], `must be from ${minimumUsd} to ${maximumUsd}`);
	const resource = { url, description: "Top-up of a wallet's balance", mimeType: "application/json" };
	const offerRequest: OfferRequest = { resource, error, ...(amountUsd === undefined ? {} : { amountUsd }) };
	const full = offers.v2(offerRequest);
	const body = x402Version === 1 ? offers.v1(offerRequest) : { x402Version: full.x402Version, accepts: full.accepts };
	return new ApiError("PAYMENT_REQUIRED", {
		message: error,
		headers: { ...headers, "PAYMENT-REQUIRED": headerOf(full) },
		body: { ...body },
	});
}
