const counts = new Intl.NumberFormat("en-US");
const short = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

/** Formats a whole number with separated thousands. */
export const count = (value: number): string => counts.format(value);

/** Formats a number for an axis: `1.2K`. */
export const compact = (value: number): string => short.format(value);

/** Formats bytes in a suitable unit: `93.4 MB`. */
export function bytes(value: number): string {
	const units = ["B", "kB", "MB", "GB", "TB"];
	const step = Math.min(Math.max(Math.floor(Math.log10(Math.max(value, 1)) / 3), 0), units.length - 1);
	return `${(value / 1000 ** step).toFixed(step === 0 ? 0 : 1)} ${units[step]}`;
}

/** Formats milliseconds: `0.8 ms`, `412 ms`, `3.2 s`, `4 min`. */
export function duration(ms: number): string {
	if (ms < 10) return `${Number(ms.toFixed(1))} ms`;
	if (ms < 1_000) return `${Math.round(ms)} ms`;
	if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
	if (ms < 5_400_000) return `${Math.round(ms / 60_000)} min`;
	if (ms < 172_800_000) return `${Math.round(ms / 3_600_000)} h`;
	return `${Math.round(ms / 86_400_000)} days`;
}

/** Formats a share from 0 to 1 as a percentage. */
export const percent = (share: number): string => `${(share * 100).toFixed(share > 0 && share < 0.1 ? 2 : 1)} %`;
