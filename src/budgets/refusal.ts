import { ApiError, type ErrorCode } from "../errors/index.ts";
import { formatNano } from "../ledger/nano.ts";
import type { AccountMoney } from "./account-money.ts";
import type { LeaseBalance } from "./lease-balance.ts";
import type { SpendingWindow } from "./spending-window.ts";
import { sumOfSplit, withinCaps } from "./split.ts";

/** A request that no money was found for. */
export interface UnfundedRequest {
	readonly money: AccountMoney;
	readonly day: number;
	readonly window: SpendingWindow | null;
	/** What it may cost, in nano-USD. */
	readonly needNano: number;
	/** What would help, for the end of the text: `max_tokens up to 812 would fit`. */
	readonly advice?: string;
	readonly param?: string;
}

/**
 * The 402 of a refused request. The code is that of the cap that stood between the request and the last source
 * with money in it; where the money itself was short, INSUFFICIENT_BALANCE. Where running requests hold the
 * money the text says so and Retry-After is 1 second.
 */
export function paymentRefusal(refused: UnfundedRequest): ApiError {
	const { money, day, window, needNano } = refused;
	const near = window?.isNearLimit ?? { usd: Infinity, diem: Infinity };
	const anywhere = sumOfSplit(withinCaps(money.freeAnywhere(day), near.diem, near.usd));
	// Where the account would have enough, other nodes hold it.
	const spendable =
		anywhere < needNano
			? anywhere
			: sumOfSplit(withinCaps(money.free(day), window?.roomDiem ?? Infinity, window?.roomUsd ?? Infinity));
	const has = (purse: LeaseBalance) => Math.max(purse.leased, purse.total);
	const onceFree = withinCaps(
		{ diem: has(money.diem(day)), bundled: has(money.bundled), usd: has(money.usd) },
		window === null ? Infinity : Math.max(0, window.limitDiem - window.spentDiem),
		window === null ? Infinity : Math.max(0, window.limitUsd - window.spentUsd),
	);
	const held = sumOfSplit(onceFree) >= needNano;
	const code = blockingCap(refused);
	const message = [
		START[code],
		`: this request may cost up to ${amount(needNano)} USD and ${amount(spendable)} USD can be spent`,
		held ? "; running requests hold the rest: try again shortly" : END[code],
		refused.advice === undefined ? "" : `; ${refused.advice}`,
	].join("");
	return new ApiError(code, {
		message,
		...(refused.param === undefined ? {} : { param: refused.param }),
		...(held ? { retryAfterSeconds: 1 } : {}),
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

/** What the account has, whoever has it leased: a cap that is below it stands in the way. */
function blockingCap({ money, day, window }: UnfundedRequest): RefusalCode {
	if (window === null) return "INSUFFICIENT_BALANCE";
	const { diem, bundled, usd } = money.freeAnywhere(day);
	if (Math.max(money.usd.leased, money.usd.total) + Math.max(money.bundled.leased, money.bundled.total) > 0)
		return window.isNearLimit.usd < usd + bundled ? "API_KEY_USD_SPEND_LIMIT_EXCEEDED" : "INSUFFICIENT_BALANCE";
	return diem > 0 && window.isNearLimit.diem < diem ? "API_KEY_DIEM_SPEND_LIMIT_EXCEEDED" : "INSUFFICIENT_BALANCE";
}

function amount(nanoUsd: number): string {
	return Number.isSafeInteger(nanoUsd) ? formatNano(nanoUsd) : "more than 9,000,000";
}
