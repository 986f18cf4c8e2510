import { cardinal, ordinal } from "./english-numbers.ts";

/** Up to 39: rulers have no higher ones. */
const ROMAN = "X{0,3}(?:IX|IV|V?I{0,3})";
/** Up to 399. A lone L or C is a letter. */
const LONG_ROMAN = "(?![LC]\\b)C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})";
const VALUES: Readonly<Record<string, number>> = { I: 1, V: 5, X: 10, L: 50, C: 100 };

/** Nouns with a cardinal: "Chapter IV" is read as chapter four. */
const COUNTED =
	"Act|Appendix|Apollo|Article|Book|Canto|Chapter|Episode|Figure|Mark|Part|Phase|Psalm|Scene|Section|Sonnet|Super Bowl|Table|Title|Volume|World War|WrestleMania";
/** These nouns also have letters, like XL, L and C. */
const GRADED = "Class|Grade|Level|Schedule|Stage|Type|Unit";
/** Names of rulers and popes: "Henry VIII" is read as Henry the eighth. */
const REGNAL =
	"Albert|Alexander|Alfonso|Benedict|Boniface|Catherine|Charles|Christian|Clement|Constantine|Darius|Edward|Elizabeth|Felipe|Ferdinand|Francis|Frederick|George|Gregory|Gustav|Haakon|Harald|Henry|Innocent|Ivan|James|John|John Paul|Juan Carlos|Julius|Justinian|Leo|Leopold|Louis|Ludwig|Mary|Napoleon|Nicholas|Olaf|Otto|Paul|Pedro|Peter|Philip|Pius|Ptolemy|Ramesses|Ramses|Richard|Robert|Sixtus|Thutmose|Umberto|Urban|Victor Emmanuel|Wilhelm|William";
const TITLE = "King|Queen|Pope|Emperor|Empress|Tsar|Kaiser|Prince|Saint";

const AFTER_COUNTED = new RegExp(
	String.raw`\b(?:(${COUNTED})s? (?=[IVXLC])(${LONG_ROMAN})|(${GRADED})s? (?=[IVX])(${ROMAN}))(?![\w'’]|\.\w)`,
	"g",
);
/** A lone I may be the pronoun: it is a number behind a title, or at the end of the words. */
const AFTER_NAME = new RegExp(
	String.raw`\b((?:${TITLE}) [A-Z][a-z]+|${REGNAL}) (?:(?!I\b)(?=[IVX])(${ROMAN})|(I)(?=$|[,.;:!?)]| of ))(?!\w|['’]m|['’]ve|['’]d|['’]ll)`,
	"g",
);
const AFTER_TITLE = new RegExp(String.raw`\b((?:${TITLE}) [A-Z][a-z]+) I\b(?!['’])`, "g");

/** Replaces Roman numerals behind names and nouns with words. */
export function romanNumeralsInWords(text: string): string {
	return text
		.replace(AFTER_COUNTED, (_, counted?: string, long?: string, graded?: string, short?: string) => {
			const number = numberOf(long ?? short ?? "");
			return `${counted ?? graded} ${cardinal(String(number))}`;
		})
		.replace(
			AFTER_NAME,
			(_, name: string, numeral: string | undefined, one: string | undefined) =>
				`${name} the ${ordinal(String(numberOf(numeral ?? one ?? "I")))}`,
		)
		.replace(AFTER_TITLE, (_, name: string) => `${name} the first`);
}

function numberOf(numeral: string): number {
	let sum = 0;
	for (const [index, letter] of [...numeral].entries()) {
		const value = VALUES[letter] ?? 0;
		sum += value < (VALUES[numeral[index + 1] ?? ""] ?? 0) ? -value : value;
	}
	return sum;
}
