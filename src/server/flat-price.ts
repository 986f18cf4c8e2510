import type { Budgets, ChargeLine } from "../budgets/port.ts";
import { ApiError } from "../errors/index.ts";
import type { Call } from "./call.ts";
import { CLIENT_LEFT } from "./client-left.ts";
import type { Admission, Answer } from "./endpoint.ts";

/** Work with a fixed price. */
export interface FlatPriced {
	readonly budgets: Budgets;
	/** The minute window of the account. */
	readonly window: string;
	readonly requestsPerMinute: number;
	readonly line: ChargeLine;
	/** The line's price. */
	readonly priceNano: Parameters<Budgets["hold"]>[2];
	work(): Promise<Answer>;
}

/** Holds the price, posts it if the work returns an answer, and voids it if the work throws. */
export function flatPriced(call: Call, { budgets, window, requestsPerMinute, line, priceNano, work }: FlatPriced): Admission {
	const { caller } = call;
	if (caller === null) throw new ApiError("AUTHENTICATION_FAILED");
	return {
		model: null,
		rate: { subject: window, limit: { requestsPerMinute }, promptTokens: 0 },
		hold: (context) => budgets.hold(caller, context, priceNano),
		async work(settlement) {
			call.suspendIdleTimeout();
			try {
				const answer = await work();
				const status = call.signal.aborted ? CLIENT_LEFT : answer.status;
				const posted = settlement.post({ lines: [line], usage: null, status, upstream: null });
				if (posted === null) throw new ApiError("UNKNOWN_ERROR", { cause: new Error(`${window} was settled twice`) });
				return answer;
			} finally {
				call.resumeIdleTimeout();
			}
		},
	};
}
