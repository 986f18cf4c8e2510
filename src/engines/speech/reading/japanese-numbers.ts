/** Converts numbers to katakana, with the sound changes of hundreds and thousands. */

const ONES = ["", "イチ", "ニ", "サン", "ヨン", "ゴ", "ロク", "ナナ", "ハチ", "キュー"];
const HUNDREDS: Readonly<Record<number, string>> = { 1: "ヒャク", 3: "サンビャク", 6: "ロッピャク", 8: "ハッピャク" };
const THOUSANDS: Readonly<Record<number, string>> = { 1: "セン", 3: "サンゼン", 8: "ハッセン" };
const MYRIADS = ["", "マン", "オク", "チョー"];
const DIGITS = ["ゼロ", "イチ", "ニ", "サン", "ヨン", "ゴ", "ロク", "ナナ", "ハチ", "キュー"];

const one = (digit: number): string => ONES[digit] ?? "";

function belowMyriad(value: number): string {
	const [thousands, hundreds, tens, ones] = [
		Math.floor(value / 1000),
		Math.floor(value / 100) % 10,
		Math.floor(value / 10) % 10,
		value % 10,
	];
	return [
		thousands === 0 ? "" : (THOUSANDS[thousands] ?? `${one(thousands)}セン`),
		hundreds === 0 ? "" : (HUNDREDS[hundreds] ?? `${one(hundreds)}ヒャク`),
		tens === 0 ? "" : `${tens === 1 ? "" : one(tens)}ジュー`,
		one(ones),
	].join("");
}

const spelled = (digits: string): string => [...digits].map((digit) => DIGITS[Number(digit)] ?? "").join("");

/**
 * Returns a number in katakana.
 * @param text `1234`, `1,234.5`; read digit by digit past 16 digits or with a leading zero
 */
export function japaneseNumber(text: string): string {
	const [whole = "", fraction] = text.replaceAll(",", "").split(".");
	const tail = fraction === undefined || fraction === "" ? "" : `テン${spelled(fraction)}`;
	if (whole.length > 16 || (whole.length > 1 && whole.startsWith("0"))) return spelled(whole) + tail;
	if (/^0*$/.test(whole)) return `ゼロ${tail}`;
	const groups: string[] = [];
	for (let end = whole.length, scale = 0; end > 0; end -= 4, scale += 1) {
		const value = Number(whole.slice(Math.max(0, end - 4), end));
		// One thousand before a myriad has its own digit: イッセンマン.
		const spoken = scale > 0 ? belowMyriad(value).replace(/^セン/, "イッセン") : belowMyriad(value);
		if (value > 0) groups.unshift(spoken + (MYRIADS[scale] ?? ""));
	}
	return groups.join("") + tail;
}
