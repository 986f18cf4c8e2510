/** Converts numbers to English words where the phonemes of digits are not enough (years, ordinals of dates). */

const ONES = [
	"zero",
	"one",
	"two",
	"three",
	"four",
	"five",
	"six",
	"seven",
	"eight",
	"nine",
	"ten",
	"eleven",
	"twelve",
	"thirteen",
	"fourteen",
	"fifteen",
	"sixteen",
	"seventeen",
	"eighteen",
	"nineteen",
];
const TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const SCALES = ["", " thousand", " million", " billion", " trillion"];
const ORDINALS: Readonly<Record<string, string>> = {
	one: "first",
	two: "second",
	three: "third",
	five: "fifth",
	eight: "eighth",
	nine: "ninth",
	twelve: "twelfth",
};

function belowThousand(value: number): string {
	const parts: string[] = [];
	if (value >= 100) parts.push(`${ONES[Math.floor(value / 100)]} hundred`);
	const rest = value % 100;
	if (rest >= 20) parts.push([TENS[Math.floor(rest / 10)], rest % 10 === 0 ? "" : ONES[rest % 10]].filter(Boolean).join("-"));
	else if (rest > 0) parts.push(ONES[rest] ?? "");
	return parts.join(" ");
}

/**
 * Returns a whole number in words.
 * @param digits read one by one past 15 digits or with a leading zero
 */
export function cardinal(digits: string): string {
	if (digits.length > 15 || (digits.length > 1 && digits.startsWith("0"))) return spelled(digits);
	const value = Number(digits);
	if (value === 0) return "zero";
	const groups: string[] = [];
	for (let rest = value, scale = 0; rest > 0; rest = Math.floor(rest / 1000), scale += 1)
		if (rest % 1000 > 0) groups.unshift(belowThousand(rest % 1000) + (SCALES[scale] ?? ""));
	return groups.join(" ");
}

/** Reads each digit by its name. */
export const spelled = (digits: string): string => [...digits].map((digit) => ONES[Number(digit)] ?? digit).join(" ");

/** Reads `3.14`, `1,234.5`, `.5`; commas separate thousands. */
export function decimal(text: string): string {
	const [whole = "", fraction] = text.replaceAll(",", "").split(".");
	const spoken = whole === "" ? "" : cardinal(whole);
	return fraction === undefined || fraction === "" ? spoken : `${spoken} point ${spelled(fraction)}`.trim();
}

export function ordinal(digits: string): string {
	const words = cardinal(digits);
	const last = /[a-z]+$/.exec(words)?.[0] ?? "";
	const stem = words.slice(0, words.length - last.length);
	return stem + (ORDINALS[last] ?? (last.endsWith("y") ? `${last.slice(0, -1)}ieth` : `${last}th`));
}

/** Reads `1999` in two halves, `1900` by hundreds, `2005` as a number. */
export function year(digits: string): string {
	const century = digits.slice(0, 2);
	const rest = Number(digits.slice(2));
	if (/^[1-9]00\d$/.test(digits)) return cardinal(digits);
	if (rest === 0) return `${cardinal(century)} hundred`;
	return `${cardinal(century)} ${rest < 10 ? `oh ${cardinal(String(rest))}` : cardinal(String(rest))}`;
}

/** Turns a year's words into a decade: `1990s`, `80s`. */
export const decade = (words: string): string => (words.endsWith("y") ? `${words.slice(0, -1)}ies` : `${words}s`);
