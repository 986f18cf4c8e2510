import { ApiError, type ErrorCode } from "../errors/index.ts";
import { formatNano } from "../ledger/nano.ts";
import type { AccountMoney } from "./account-money.ts";
import type { LeaseBalance } from "./lease-balance.ts";
import type { SpendingWindow } from "./spending-window.ts";
import { sumOfSplit, withinCaps } from "./split.ts";

/** A request for which no money was found. */
export interface UnfundedRequest {
	readonly money: AccountMoney;
	readonly day: number;
	readonly window: SpendingWindow | null;
	/** Its worst case in nano-USD. */
	readonly needNano: number;
	/** Text that follows the message and says what would help: `max_tokens up to 812 would fit`. */
	readonly advice?: string;
	readonly param?: string;
}

/**
 * Returns the 402 of a refused request. Its code names the cap that blocked the last source with money; if the
 * money itself was short, it is INSUFFICIENT_BALANCE. If running requests hold the money, the text says so and
 * Retry-After is 1 second.
 */
export function paymentRefusal(refused: UnfundedRequest): ApiError {
	const { money, day, window, needNano } = refused;
	const caps = window?.unspentHere ?? { usd: Infinity, diem: Infinity };
	const anywhere = sumOfSplit(withinCaps(money.freeAnywhere(day), caps.diem, caps.usd));
	// If the account would have enough, other nodes hold it.
	const available =
		anywhere < needNano
			? anywhere
			: sumOfSplit(withinCaps(money.free(day), window?.headroomDiem ?? Infinity, window?.headroomUsd ?? Infinity));
	const balanceOf = (leaseBalance: LeaseBalance) => Math.max(leaseBalance.leased, leaseBalance.total);
	const onceFree = withinCaps(
		{ diem: balanceOf(money.diem(day)), bundled: balanceOf(money.bundled), usd: balanceOf(money.usd) },
		window === null ? Infinity : Math.max(0, window.limitDiem - window.spentDiem),
		window === null ? Infinity : Math.max(0, window.limitUsd - window.spentUsd),
	);
	const fitsOnceFree = sumOfSplit(onceFree) >= needNano;
	const code = blockingCap(refused);
	const message = [
		START[code],
		`: this request may cost up to ${amount(needNano)} USD and ${amount(available)} USD can be spent`,
		fitsOnceFree ? "; running requests hold the rest: try again shortly" : END[code],
		refused.advice === undefined ? "" : `; ${refused.advice}`,
	].join("");
	return new ApiError(code, {
		message,
		...(refused.param === undefined ? {} : { param: refused.param }),
		...(fitsOnceFree ? { retryAfterSeconds: 1 } : {}),
	});
}

type RefusalCode = Extract<
	ErrorCode,
	"INSUFFICIENT_BALANCE" | "API_KEY_USD_SPEND_LIMIT_EXCEEDED" | "API_KEY_DIEM_SPEND_LIMIT_EXCEEDED"
>;

const START: Record<RefusalCode, string> = {
	INSUFFICIENT_BALANCE: "Insufficient balance",
	API_KEY_USD_SPEND_LIMIT_EXCEEDED: "The USD limit of this key is reached",
	API_KEY_DIEM_SPEND_LIMIT_EXCEEDED: "The diem limit of this key is reached",
};

const END: Record<RefusalCode, string> = {
	INSUFFICIENT_BALANCE: "; add credit to this account",
	API_KEY_USD_SPEND_LIMIT_EXCEEDED: "; raise its consumptionLimit or wait for its next period",
	API_KEY_DIEM_SPEND_LIMIT_EXCEEDED: "; raise its consumptionLimit or wait for its next period",
};

/** Returns the cap that is below the account's money, on whichever node it is leased. */
function blockingCap({ money, day, window }: UnfundedRequest): RefusalCode {
	if (window === null) return "INSUFFICIENT_BALANCE";
	const { diem, bundled, usd } = money.freeAnywhere(day);
	if (Math.max(money.usd.leased, money.usd.total) + Math.max(money.bundled.leased, money.bundled.total) > 0)
		return window.unspentHere.usd < usd + bundled ? "API_KEY_USD_SPEND_LIMIT_EXCEEDED" : "INSUFFICIENT_BALANCE";
	return diem > 0 && window.unspentHere.diem < diem ? "API_KEY_DIEM_SPEND_LIMIT_EXCEEDED" : "INSUFFICIENT_BALANCE";
}

function amount(nanoUsd: number): string {
	return Number.isSafeInteger(nanoUsd) ? formatNano(nanoUsd) : "more than 9,000,000";
}
