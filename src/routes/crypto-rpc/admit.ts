import type { CreditTake, HoldContext } from "../../budgets/port.ts";
import { creditPrice, creditsNano, type RpcNetwork } from "../../catalog/rpc/index.ts";
import { ApiError } from "../../errors/index.ts";
import type { Call } from "../../server/call.ts";
import type { Admission } from "../../server/endpoint.ts";
import { worstCredits } from "./credits.ts";
import type { RpcDeps } from "./deps.ts";
import { bodyFingerprint } from "./fingerprint.ts";
import { claimKey, idempotencyKey, type KeyedRun } from "./idempotency.ts";
import { minuteRefusal, RPC_WINDOW, rpcLimits } from "./limits.ts";
import { allowedMethods } from "./policy.ts";
import { type RequestBody, readRequestBody } from "./request-body.ts";
import { RpcRun } from "./run.ts";

/**
 * Checks a request in the order of docs/rpc.md: body, methods, then the minute's requests, the idempotency key, the
 * day's credits, the money. Calls no upstream before all of them have passed.
 */
export function admitRpc(raw: Uint8Array, network: RpcNetwork, call: Call, deps: RpcDeps): Admission {
	const envelope = readRequestBody(raw);
	const methods = allowedMethods(deps.catalog, network, envelope);
	const config = deps.config();
	const { caller } = call;
	if (caller === null) throw new ApiError("AUTHENTICATION_FAILED");
	const limits = rpcLimits(caller.account.tier, config);
	const subject = `crypto-rpc/${network.slug}`;
	const picoPrice = creditPrice(config.rpc.pricePerCreditUsd);
	const worst = worstCredits(network, methods);
	let keyed: KeyedRun | null = null;
	let credits: CreditTake | null = null;
	const giveBack = () => {
		credits?.settle(0);
		keyed?.ticket.release();
	};
	return {
		model: null,
		rate: {
			subject: RPC_WINDOW,
			limit: { requestsPerMinute: limits.requestsPerMinute },
			promptTokens: 0,
			refused: (error) => minuteRefusal(error, limits.requestsPerMinute, subject),
		},
		async replay() {
			const key = idempotencyKey(call.request);
			if (key === null) return null;
			const claimed = await claimKey(key, bodyFingerprint(network.slug, envelope.bytes), call, deps);
			if ("status" in claimed) return claimed;
			keyed = claimed;
			return null;
		},
		async hold(context: HoldContext) {
			try {
				if (worst > limits.creditsPerDay) throw overDay(worst, limits.creditsPerDay);
				credits = await deps.credits.take(caller, { worstCredits: worst, limitCredits: limits.creditsPerDay, subject });
				return await deps.budgets.hold(caller, { ...context, model: subject }, creditsNano(worst, picoPrice));
			} catch (error) {
				giveBack();
				throw error;
			}
		},
		async work(settlement) {
			try {
				const items = methods.map((method, index) => ({ method, params: paramsOf(envelope, index) }));
				const run = new RpcRun({ envelope, network, items, caller, call, settlement, keyed, credits, picoPrice, deps });
				return await run.answer();
			} catch (error) {
				giveBack();
				throw error;
			}
		},
	};
}

/** Returns the refusal of a request that alone exceeds the day's limit: waiting does not help. */
function overDay(credits: number, creditsPerDay: number): ApiError {
	return new ApiError("INVALID_REQUEST", {
		message: `This request may cost ${credits} credits, and an account has ${creditsPerDay} in 24 hours: send fewer calls at once`,
	});
}

const NO_PARAMS = new TextEncoder().encode("[]");

function paramsOf({ bytes, items }: RequestBody, index: number): Uint8Array {
	const params = items[index]?.params ?? null;
	return params === null ? NO_PARAMS : bytes.subarray(params.start, params.end);
}
