/** Replaces money, times, dates, addresses, units and signs with the words of spoken English. */
import { cardinal, decade, decimal, ordinal, spelled, year } from "./english-numbers.ts";
import { type MathWords, mathSignsIn } from "./math-signs.ts";
import { romanNumeralsInWords } from "./roman-numerals.ts";

type Rule = (text: string, british: boolean) => string;

const MONTHS = "January February March April May June July August September October November December".split(" ");
const MONTH = `(?:${MONTHS.join("|")})`;
const NUMBER = String.raw`\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+`;

const spellAddress = (address: string): string =>
	address
		.replace(/^[a-z]+:\/\//i, "")
		.replace(/\/$/, "")
		.replace(/\d+/g, (digits) => ` ${digits.length > 4 ? spelled(digits) : cardinal(digits)} `)
		.replace(/\./g, " dot ")
		.replace(/\//g, " slash ")
		.replace(/@/g, " at ")
		.replace(/-/g, " dash ")
		.replace(/_/g, " underscore ")
		.replace(/:/g, " colon ")
		.replace(/\?/g, " question mark ")
		.replace(/=/g, " equals ")
		.replace(/&/g, " and ")
		.replace(/#/g, " hash ")
		.replace(/%/g, " percent ")
		.replace(/\+/g, " plus ")
		.replace(/\s+/g, " ")
		.trim();

const ADDRESS = new RegExp(
	[
		String.raw`\bhttps?:\/\/[^\s"'()]*[^\s"'().,;:!?]`,
		String.raw`\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+`,
		String.raw`\b(?:[a-z0-9-]{1,63}\.){1,8}(?:com|org|net|io|dev|edu|gov|info|app|ai|co|uk|de|fr|eu)\b(?:\/[^\s"'()]*[^\s"'().,;:!?])?`,
	].join("|"),
	"gi",
);
const addresses: Rule = (text) => text.replace(ADDRESS, (address) => ` ${spellAddress(address)} `);

/** With their dot; a word without one stays as it is. */
const ABBREVIATIONS: Readonly<Record<string, string>> = {
	mr: "Mister",
	mrs: "Missus",
	ms: "Miz",
	dr: "Doctor",
	prof: "Professor",
	jr: "Junior",
	sr: "Senior",
	vs: "versus",
	etc: "et cetera",
	approx: "approximately",
	dept: "department",
	inc: "incorporated",
	ltd: "limited",
	corp: "corporation",
	gen: "General",
	sgt: "Sergeant",
	capt: "Captain",
	lt: "Lieutenant",
	col: "Colonel",
	gov: "Governor",
	sen: "Senator",
	rep: "Representative",
	rev: "Reverend",
	ave: "Avenue",
	blvd: "Boulevard",
	rd: "Road",
	est: "established",
	fig: "figure",
	vol: "volume",
	jan: "January",
	feb: "February",
	mar: "March",
	apr: "April",
	jun: "June",
	jul: "July",
	aug: "August",
	sep: "September",
	sept: "September",
	oct: "October",
	nov: "November",
	dec: "December",
	mon: "Monday",
	tue: "Tuesday",
	tues: "Tuesday",
	wed: "Wednesday",
	thu: "Thursday",
	thurs: "Thursday",
	fri: "Friday",
};
const ABBREVIATION = new RegExp(String.raw`\b(${Object.keys(ABBREVIATIONS).join("|")})\.(\s*$)?`, "gi");
/** These are words of their own in lower case or at the end of a sentence. */
const ALSO_WORDS = /^(?:mar|jun|gen|col|rep|rev|est|fig|mon|wed|fri|sun|sat|gov|sen|ave)$/;

const abbreviations: Rule = (text) =>
	text
		.replace(/\be\.g\.,?/gi, "for example,")
		.replace(/\bi\.e\.,?/gi, "that is,")
		.replace(/\ba\.?k\.?a\.(?=\s)/gi, "also known as")
		.replace(/\bNo\.\s?(?=\d)/g, "number ")
		.replace(/\bSt\.(?=\s+[A-Z])/g, "Saint")
		.replace(/\bSt\./g, "Street")
		.replace(ABBREVIATION, (whole, word: string, atEnd: string | undefined) => {
			if (ALSO_WORDS.test(word) || (atEnd !== undefined && ALSO_WORDS.test(word.toLowerCase()))) return whole;
			// A dot that also ends the sentence stays.
			return (ABBREVIATIONS[word.toLowerCase()] ?? word) + (atEnd === undefined ? "" : ".");
		});

const CURRENCIES: Readonly<Record<string, readonly [one: string, many: string, part: string, parts: string]>> = {
	$: ["dollar", "dollars", "cent", "cents"],
	"£": ["pound", "pounds", "penny", "pence"],
	"€": ["euro", "euros", "cent", "cents"],
	"¥": ["yen", "yen", "sen", "sen"],
	"₹": ["rupee", "rupees", "paisa", "paise"],
	USD: ["dollar", "dollars", "cent", "cents"],
	GBP: ["pound", "pounds", "penny", "pence"],
	EUR: ["euro", "euros", "cent", "cents"],
};
const SCALE_WORDS: Readonly<Record<string, string>> = { k: "thousand", m: "million", bn: "billion", b: "billion", t: "trillion" };
const SCALE = String.raw`(?:\s(hundred|thousand|million|billion|trillion)\b|(bn|[kmbt])\b)?`;

function moneyInWords(amount: string, currency: string, word: string | undefined, letter: string | undefined): string {
	const [one, many, part, parts] = CURRENCIES[currency.toUpperCase()] ?? [currency, currency, "", ""];
	const scale = word ?? (letter === undefined ? undefined : SCALE_WORDS[letter.toLowerCase()]);
	if (scale !== undefined) return `${decimal(amount)} ${scale} ${many}`;
	const [whole = "0", fraction] = amount.replaceAll(",", "").split(".");
	if (fraction === undefined || fraction.length !== 2) return `${decimal(amount)} ${amount === "1" ? one : many}`;
	const small = Number(fraction);
	const smallWords = small === 0 ? "" : `${cardinal(String(small))} ${small === 1 ? part : parts}`;
	if (whole === "" || Number(whole) === 0) return smallWords === "" ? `zero ${many}` : smallWords;
	const wholeWords = `${cardinal(whole)} ${Number(whole) === 1 ? one : many}`;
	return smallWords === "" ? wholeWords : `${wholeWords} and ${smallWords}`;
}

const MONEY_BEFORE = new RegExp(String.raw`(?:US)?([$£€¥₹]|\b(?:USD|EUR|GBP)\b)\s?(${NUMBER})${SCALE}`, "gi");
const MONEY_AFTER = new RegExp(String.raw`(?<![\d.,])(${NUMBER})${SCALE}\s?(€|£|¥|₹|\b(?:USD|EUR|GBP)\b)`, "g");
const money: Rule = (text) =>
	text
		.replace(MONEY_BEFORE, (_, currency: string, amount: string, word?: string, letter?: string) =>
			moneyInWords(amount, currency, word, letter),
		)
		.replace(MONEY_AFTER, (_, amount: string, word: string | undefined, letter: string | undefined, currency: string) =>
			moneyInWords(amount, currency, word, letter),
		);

const HALF_DAY: Readonly<Record<string, string>> = { a: "A M", p: "P M" };
const clock: Rule = (text) =>
	text
		.replace(
			/\b([01]?\d|2[0-3]):([0-5]\d)(?::[0-5]\d)?(?:\s?([ap])\.?m\b\.?)?/gi,
			(_, hour: string, minute: string, half?: string) => {
				const suffix = half === undefined ? "" : ` ${HALF_DAY[half.toLowerCase()]}`;
				const hours = cardinal(String(Number(hour)));
				if (minute === "00")
					return half === undefined ? (Number(hour) <= 12 ? `${hours} o'clock` : `${hours} hundred`) : hours + suffix;
				return `${hours} ${minute.startsWith("0") ? `oh ${cardinal(minute.slice(1))}` : cardinal(minute)}${suffix}`;
			},
		)
		.replace(
			/\b(1[0-2]|[1-9])\s?([ap])\.?m\b\.?/gi,
			(_, hour: string, half: string) => `${cardinal(hour)} ${HALF_DAY[half.toLowerCase()]}`,
		);

function dateInWords(yearDigits: string | undefined, month: number, day: number, british: boolean): string | null {
	const name = MONTHS[month - 1];
	if (name === undefined || day < 1 || day > 31) return null;
	const spoken = british ? `the ${ordinal(String(day))} of ${name}` : `${name} ${ordinal(String(day))}`;
	return yearDigits === undefined ? spoken : `${spoken}, ${year(yearDigits)}`;
}

const dates: Rule = (text, british) =>
	text
		.replace(
			/\b(\d{4})-(\d\d)-(\d\d)\b/g,
			(whole, y: string, m: string, d: string) => dateInWords(y, Number(m), Number(d), british) ?? whole,
		)
		.replace(/\b(\d{1,2})\/(\d{1,2})\/(\d{4})\b/g, (whole, first: string, second: string, y: string) => {
			const [month, day] = british || Number(first) > 12 ? [second, first] : [first, second];
			return dateInWords(y, Number(month), Number(day), british) ?? whole;
		})
		.replace(
			new RegExp(String.raw`\b(${MONTH})\s+(\d{1,2})(?:st|nd|rd|th)?\b(?!\s*:)(?:,?\s+(\d{4})\b)?`, "g"),
			(_, month: string, day: string, y?: string) => `${month} ${ordinal(day)}${y === undefined ? "" : `, ${year(y)}`}`,
		)
		.replace(
			new RegExp(String.raw`\b(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?(${MONTH})\b(?:,?\s+(\d{4})\b)?`, "g"),
			(_, day: string, month: string, y?: string) => `the ${ordinal(day)} of ${month}${y === undefined ? "" : `, ${year(y)}`}`,
		)
		.replace(/\b(1[1-9]|20)(\d)0s\b/g, (_, century: string, tens: string) => decade(year(`${century}${tens}0`)))
		.replace(
			/(?<![\d.,$£€#-])\b(1[1-9]\d\d|20[0-4]\d)\b(?![\d,]*\d|\.\d|-\d{3}|\s?(?:%|km|kg|mm|m|g|dollars|euros|pounds|people|items))/g,
			(_, y: string) => year(y),
		);

const UNITS: Readonly<Record<string, readonly [one: string, many: string]>> = {
	km: ["kilometer", "kilometers"],
	cm: ["centimeter", "centimeters"],
	mm: ["millimeter", "millimeters"],
	m: ["meter", "meters"],
	kg: ["kilogram", "kilograms"],
	mg: ["milligram", "milligrams"],
	g: ["gram", "grams"],
	lb: ["pound", "pounds"],
	lbs: ["pound", "pounds"],
	oz: ["ounce", "ounces"],
	ft: ["foot", "feet"],
	mi: ["mile", "miles"],
	mph: ["mile per hour", "miles per hour"],
	"km/h": ["kilometer per hour", "kilometers per hour"],
	kph: ["kilometer per hour", "kilometers per hour"],
	"m/s": ["meter per second", "meters per second"],
	"°C": ["degree Celsius", "degrees Celsius"],
	"°F": ["degree Fahrenheit", "degrees Fahrenheit"],
	"°": ["degree", "degrees"],
	"%": ["percent", "percent"],
	KB: ["kilobyte", "kilobytes"],
	MB: ["megabyte", "megabytes"],
	GB: ["gigabyte", "gigabytes"],
	TB: ["terabyte", "terabytes"],
	Hz: ["hertz", "hertz"],
	kHz: ["kilohertz", "kilohertz"],
	MHz: ["megahertz", "megahertz"],
	GHz: ["gigahertz", "gigahertz"],
	kW: ["kilowatt", "kilowatts"],
	kWh: ["kilowatt hour", "kilowatt hours"],
	W: ["watt", "watts"],
	V: ["volt", "volts"],
	ms: ["millisecond", "milliseconds"],
	s: ["second", "seconds"],
	min: ["minute", "minutes"],
	h: ["hour", "hours"],
	hrs: ["hour", "hours"],
	ml: ["milliliter", "milliliters"],
	L: ["liter", "liters"],
};
const UNIT = Object.keys(UNITS)
	.sort((a, b) => b.length - a.length)
	.join("|");
const MEASURE = new RegExp(String.raw`(?<![\w.,])(-?)(${NUMBER})\s?(${UNIT})(?![\w/])`, "g");
const measures: Rule = (text) =>
	text.replace(MEASURE, (_, minus: string, amount: string, unit: string) => {
		const [one, many] = UNITS[unit] ?? [unit, unit];
		return `${minus === "" ? "" : "minus "}${decimal(amount)} ${amount === "1" ? one : many}`;
	});

const FRACTIONS: Readonly<Record<string, string>> = {
	"1/2": "one half",
	"1/3": "one third",
	"2/3": "two thirds",
	"1/4": "one quarter",
	"3/4": "three quarters",
	"1/8": "one eighth",
	"24/7": "twenty-four seven",
};
const spaced = (digits: string): string => spelled(digits.replace(/\D/g, ""));
const numbers: Rule = (text) =>
	text
		.replace(
			/(?<!\w)(?:\+(\d{1,3})[ -]?)?\(?(\d{3})\)?[ -](\d{3})[ -](\d{4})\b/g,
			(_, country: string | undefined, ...rest: string[]) =>
				[country, ...rest.slice(0, 3)].flatMap((part) => (part === undefined ? [] : [spaced(part)])).join(", "),
		)
		.replace(
			/\b(\d+)\s?\/\s?(\d+)\b/g,
			(_, over: string, under: string) => FRACTIONS[`${over}/${under}`] ?? `${cardinal(over)} over ${cardinal(under)}`,
		)
		.replace(/(\d) (one half|one third|two thirds|one quarter|three quarters)/g, "$1 and $2")
		.replace(/\b(\d{1,3}(?:,\d{3})*|\d+)(?:st|nd|rd|th)\b/gi, (_, digits: string) => ordinal(digits.replaceAll(",", "")))
		.replace(/\b\d+(?:\.\d+){2,}\b/g, (version) => version.split(".").map(cardinal).join(" point "))
		.replace(/(\d)\s?[-–]\s?(?=\d)/g, "$1 to ")
		.replace(/(?<![\w)])-(?=\.?\d)/g, "minus ")
		.replace(/#\s?(?=\d)/g, "number ")
		.replace(/(\d)\s?x\s?(?=\d)/gi, "$1 by ")
		.replace(new RegExp(NUMBER, "g"), (digits) => ` ${decimal(digits)} `);

const SIGNS: readonly (readonly [RegExp, string])[] = [
	[/&/g, " and "],
	[/%/g, " percent "],
	[/@/g, " at "],
	[/\+/g, " plus "],
	[/=/g, " equals "],
	[/×/g, " times "],
	[/÷/g, " divided by "],
	[/±/g, " plus or minus "],
	[/~\s?(?=[a-z])/gi, " about "],
	[/§/g, " section "],
	[/#(?=\w)/g, " hashtag "],
	[/\$/g, " dollars "],
	[/£/g, " pounds "],
	[/€/g, " euros "],
	[/(\w)\/(?=\w)/g, "$1 slash "],
	[/[#/_~°]/g, " "],
];
const signs: Rule = (text) => SIGNS.reduce((spoken, [from, to]) => spoken.replace(from, to), text);

const romanNumerals: Rule = (text) => romanNumeralsInWords(text);

const RULES: readonly Rule[] = [addresses, abbreviations, romanNumerals, dates, clock, money, measures, numbers, signs];

/**
 * Replaces numbers and signs with words.
 * @param text cleaned, a sentence or a part of one
 */
export function englishInWords(text: string, british: boolean): string {
	const spoken = RULES.reduce((words, rule) => rule(words, british), text)
		.replace(/\s+/g, " ")
		.replace(/\s(?=[,.;:!?)])/g, "")
		.trim();
	// The dot of "a.m." may also end the sentence.
	return /\.$/.test(text) && /\w$/.test(spoken) ? `${spoken}.` : spoken;
}

const ENGLISH_SIGNS: MathWords = {
	power(raised) {
		if (raised === "2") return " squared ";
		if (raised === "3") return " cubed ";
		const isNegative = raised.startsWith("-");
		const exponent = isNegative ? raised.slice(1) : raised;
		const spoken = /^\d/.test(exponent) ? decimal(exponent) : exponent;
		return ` to the power of ${isNegative ? "minus " : ""}${spoken} `;
	},
	comparisons: {
		"<": " is less than ",
		">": " is greater than ",
		"<=": " is at most ",
		">=": " is at least ",
		"!=": " is not equal to ",
		"==": " equals ",
		"≈": " is about ",
	},
	chain: ", which",
	times: " times ",
};

const AREA = new RegExp(
	String.raw`(?<![\w.,])(${NUMBER})\s?(km|cm|mm|m|ft|mi)(?:\^?(?:([2²])|[3³]))(?![\w${"⁰¹²³⁴⁵⁶⁷⁸⁹"}])`,
	"g",
);
/** A unit behind a power of ten: 10⁸ km. */
const UNIT_OF_POWER = new RegExp(String.raw`(?<=\d(?:[⁻⁺]?[${"⁰¹²³⁴⁵⁶⁷⁸⁹"}]+|\^[-−+]?\d+)\s?)(${UNIT})(?![\w/²³^'’])`, "g");

/** Replaces signs that cleaning would remove or turn into digits; applies to the original text. */
export function mathSignsInWords(text: string): string {
	const measured = text
		.replace(AREA, (_, amount: string, unit: string, square?: string) => {
			const [one, many] = UNITS[unit] ?? [unit, unit];
			return `${amount} ${square === undefined ? "cubic" : "square"} ${amount === "1" ? one : many}`;
		})
		.replace(UNIT_OF_POWER, (unit: string) => ` ${UNITS[unit]?.[1] ?? unit}`);
	return mathSignsIn(measured, ENGLISH_SIGNS);
}
