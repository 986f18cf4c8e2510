import type { Key, KeyLimits, LimitPeriod } from "../../../src/routes/console/types.ts";
import { count } from "../format/quantity.ts";
import { ShareBar } from "../parts/share-bar.tsx";

export const PERIODS: Readonly<Record<LimitPeriod, string>> = {
	EPOCH: "a day (UTC)",
	MONTH: "a month (UTC)",
	LIFETIME: "in total",
};

/** Returns a key's limits in words: `$5 and 2 diem a day (UTC)`. */
export function limitText(limits: KeyLimits, period: LimitPeriod): string | null {
	const parts = [...(limits.usd === null ? [] : [`$${limits.usd}`]), ...(limits.diem === null ? [] : [`${limits.diem} diem`])];
	return parts.length === 0 ? null : `${parts.join(" and ")} ${PERIODS[period]}`;
}

interface Props {
	readonly limits: KeyLimits;
	readonly period: LimitPeriod;
	/** The spending in the limit's own window, in USD. */
	readonly spentUsd?: string | undefined;
}

/** Shows a key's limits, and how much of the USD limit is spent. */
export function Limits({ limits, period, spentUsd }: Props) {
	const text = limitText(limits, period);
	if (text === null) return <span className="quiet">no limit</span>;
	const share = limits.usd === null || limits.usd === 0 || spentUsd === undefined ? null : Number(spentUsd) / limits.usd;
	return (
		<>
			{text}
			{share === null ? null : (
				<>
					<ShareBar label="Spent of the limit in USD" share={share} text={`$${spentUsd} of $${limits.usd}`} />
					<span className="sub">${spentUsd} spent</span>
				</>
			)}
		</>
	);
}

/** Returns a key's restrictions in a few words. */
export function restrictionText({ restrictions }: Pick<Key, "restrictions">): string | null {
	if (restrictions === undefined) return null;
	const parts = Object.entries(restrictions).flatMap(([name, values]: [string, readonly string[] | null]) =>
		values === null ? [] : [values.length <= 2 ? `${name}: ${values.join(", ")}` : `${name}: ${count(values.length)}`],
	);
	return parts.length === 0 ? null : parts.join("; ");
}
