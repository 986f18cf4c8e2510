/** The words of the languages without further rules for numbers. */
import { type MathWords, type MeasureWords, mathSignsIn } from "./math-signs.ts";

const CHINESE: MathWords = {
	power: (raised) =>
		raised === "2" ? "的平方" : raised === "3" ? "的立方" : raised === "" ? "的次方" : `的${raised.replace("-", "负")}次方`,
	comparisons: {
		"<": "小于",
		">": "大于",
		"<=": "小于等于",
		">=": "大于等于",
		"!=": "不等于",
		"==": "等于",
		"≈": "约等于",
	},
	chain: "",
	times: "乘以",
};
const JAPANESE: MathWords = {
	power: (raised) => (raised === "" ? "の累乗" : `の${raised.replace("-", "マイナス")}乗`),
	comparisons: {
		"<": "小なり",
		">": "大なり",
		"<=": "小なりイコール",
		">=": "大なりイコール",
		"!=": "ノットイコール",
		"==": "イコール",
		"≈": "ニアリーイコール",
	},
	chain: "",
	times: "かける",
};

/** Returns the words for a power: a square, a cube, or `other` with the exponent. */
function powers(square: string, cube: string, other: string, minus: string): MathWords["power"] {
	return (raised) => {
		if (raised === "2") return ` ${square} `;
		if (raised === "3") return ` ${cube} `;
		return ` ${other} ${raised.replace(/^-/, `${minus} `)} `;
	};
}

const withoutS = (words: string): string => words.replaceAll(/s\b/g, "");
const behind =
	(square: string, cubic: string): MeasureWords["join"] =>
	(unit, isSquare) =>
		`${unit} ${isSquare ? square : cubic}`;

const FRENCH: MathWords = {
	power: powers("au carré", "au cube", "puissance", "moins"),
	comparisons: {
		"<": " est inférieur à ",
		">": " est supérieur à ",
		"<=": " est inférieur ou égal à ",
		">=": " est supérieur ou égal à ",
		"!=": " est différent de ",
		"==": " est égal à ",
		"≈": " est environ égal à ",
	},
	chain: ", qui",
	times: " fois ",
	measures: {
		units: { km: "kilomètres", m: "mètres", cm: "centimètres", mm: "millimètres" },
		join: behind("carrés", "cubes"),
		one: withoutS,
	},
};
const SPANISH: MathWords = {
	power: powers("al cuadrado", "al cubo", "elevado a", "menos"),
	comparisons: {
		"<": " es menor que ",
		">": " es mayor que ",
		"<=": " es menor o igual que ",
		">=": " es mayor o igual que ",
		"!=": " es distinto de ",
		"==": " es igual a ",
		"≈": " es aproximadamente igual a ",
	},
	chain: ", que",
	times: " por ",
	measures: {
		units: { km: "kilómetros", m: "metros", cm: "centímetros", mm: "milímetros" },
		join: behind("cuadrados", "cúbicos"),
		one: withoutS,
	},
};
const ITALIAN: MathWords = {
	power: powers("al quadrato", "al cubo", "elevato a", "meno"),
	comparisons: {
		"<": " è minore di ",
		">": " è maggiore di ",
		"<=": " è minore o uguale a ",
		">=": " è maggiore o uguale a ",
		"!=": " è diverso da ",
		"==": " è uguale a ",
		"≈": " è circa uguale a ",
	},
	chain: ", che",
	times: " per ",
	measures: {
		units: { km: "chilometri", m: "metri", cm: "centimetri", mm: "millimetri" },
		join: behind("quadrati", "cubi"),
		one: (words) => words.replaceAll(/i\b/g, "o"),
	},
};
const PORTUGUESE: MathWords = {
	power: powers("ao quadrado", "ao cubo", "elevado a", "menos"),
	comparisons: {
		"<": " é menor que ",
		">": " é maior que ",
		"<=": " é menor ou igual a ",
		">=": " é maior ou igual a ",
		"!=": " é diferente de ",
		"==": " é igual a ",
		"≈": " é aproximadamente igual a ",
	},
	chain: ", que",
	times: " vezes ",
	measures: {
		units: { km: "quilômetros", m: "metros", cm: "centímetros", mm: "milímetros" },
		join: behind("quadrados", "cúbicos"),
		one: withoutS,
	},
};
/**
 * Hindi puts a postposition behind what is compared with, so `a < b` is read as "than a, greater is b": the same relation, with
 * the operands in their order.
 */
const HINDI: MathWords = {
	power: powers("का वर्ग", "का घन", "की घात", "माइनस"),
	comparisons: {
		"<": " से बड़ा है ",
		">": " से छोटा है ",
		"<=": " से बड़ा या बराबर है ",
		">=": " से छोटा या बराबर है ",
		"!=": " के बराबर नहीं है ",
		"==": " के बराबर है ",
		"≈": " के लगभग बराबर है ",
	},
	chain: ", जिस",
	times: " गुणा ",
	measures: {
		units: { km: "किलोमीटर", m: "मीटर", cm: "सेंटीमीटर", mm: "मिलीमीटर" },
		join: (unit, isSquare) => `${isSquare ? "वर्ग" : "घन"} ${unit}`,
		one: (words) => words,
	},
};

const WORDS = { es: SPANISH, fr: FRENCH, hi: HINDI, it: ITALIAN, ja: JAPANESE, "pt-br": PORTUGUESE, zh: CHINESE };

/** Replaces powers and comparisons in the original text with words of a language other than English. */
export const mathSignsInLanguage = (text: string, language: keyof typeof WORDS): string => mathSignsIn(text, WORDS[language]);
