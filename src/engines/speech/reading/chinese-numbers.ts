/** Converts numbers to Chinese characters. */

const DIGITS = ["零", "一", "二", "三", "四", "五", "六", "七", "八", "九"];
const PLACES = ["", "十", "百", "千"];
const MYRIADS = ["", "万", "亿", "万亿"];

const spelled = (digits: string): string => [...digits].map((digit) => DIGITS[Number(digit)] ?? "").join("");

function belowMyriad(value: number): string {
	let spoken = "";
	for (let place = 3; place >= 0; place -= 1) {
		const digit = Math.floor(value / 10 ** place) % 10;
		if (digit > 0) spoken += (DIGITS[digit] ?? "") + (PLACES[place] ?? "");
		// Zeros between two digits are read once.
		else if (spoken !== "" && !spoken.endsWith("零") && value % 10 ** place > 0) spoken += "零";
	}
	return spoken;
}

/**
 * Returns a number in characters.
 * @param text `1234`, `1,234.5`; read digit by digit past 16 digits or with a leading zero
 */
export function chineseNumber(text: string): string {
	const [whole = "", fraction] = text.replaceAll(",", "").split(".");
	const tail = fraction === undefined || fraction === "" ? "" : `点${spelled(fraction)}`;
	if (whole.length > 16 || (whole.length > 1 && whole.startsWith("0"))) return spelled(whole) + tail;
	if (/^0*$/.test(whole)) return `零${tail}`;
	let spoken = "";
	const top = Math.ceil(whole.length / 4) - 1;
	for (let scale = top; scale >= 0; scale -= 1) {
		const end = whole.length - scale * 4;
		const value = Number(whole.slice(Math.max(0, end - 4), end));
		if (value === 0) continue;
		if (spoken !== "" && value < 1000) spoken += "零";
		spoken += belowMyriad(value) + (MYRIADS[scale] ?? "");
	}
	return spoken.replace(/^一十/, "十") + tail;
}

const NUMBER = /\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?/g;

/** Replaces numbers, years, percentages and signs of a text with characters. */
export const chineseInWords = (text: string): string =>
	text
		.replace(/(\d{4})\s?年/g, (_, year: string) => `${spelled(year)}年`)
		.replace(/([\d.,]*\d)\s?%/g, "百分之$1")
		.replace(
			/\b(\d{1,2}):(\d{2})\b/g,
			(_, hour: string, minute: string) => `${hour}点${minute === "00" ? "" : `${Number(minute)}分`}`,
		)
		.replace(/[¥￥]\s?([\d.,]*\d)/g, "$1元")
		.replace(/\$\s?([\d.,]*\d)/g, "$1美元")
		.replace(NUMBER, chineseNumber)
		.replace(/\+/g, "加")
		.replace(/=/g, "等于")
		.replace(/[&@#/]/g, " ");
