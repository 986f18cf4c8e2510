import { amountText } from "../../budgets/index.ts";
import type { Charges } from "./types.ts";

/** A sum of charges in nano-USD and nano-diem. */
export interface ChargeSum {
	readonly usd: number;
	readonly bundled: number;
	readonly diem: number;
	readonly overrun: number;
}

export const NO_CHARGES: ChargeSum = { usd: 0, bundled: 0, diem: 0, overrun: 0 };

export function addCharges(a: ChargeSum, b: ChargeSum): ChargeSum {
	return { usd: a.usd + b.usd, bundled: a.bundled + b.bundled, diem: a.diem + b.diem, overrun: a.overrun + b.overrun };
}

export function chargesView({ usd, bundled, diem, overrun }: ChargeSum): Charges {
	return { usd: amountText(usd), bundled: amountText(bundled), diem: amountText(diem), overrun: amountText(overrun) };
}
