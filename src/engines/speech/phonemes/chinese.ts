import { pinyin } from "pinyin-pro";
import { chineseInWords } from "../reading/chinese-numbers.ts";
import { pinyinSounds } from "./pinyin-sounds.ts";

const WORDS = new Intl.Segmenter("zh", { granularity: "word" });
const HAN_RUN = /\p{Script=Han}+|\P{Script=Han}+/gu;

/**
 * Returns the sounds of Chinese words, with spaces between them.
 * @param words of one clause
 * @param readLatin reads a foreign word
 */
export function chineseSounds(words: string, readLatin: (word: string) => string): string {
	const runs = chineseInWords(words).match(HAN_RUN) ?? [];
	return runs
		.map((run) => (/\p{Script=Han}/u.test(run) ? hanSounds(run) : readLatin(run)))
		.filter((sound) => sound !== "")
		.join(" ");
}

/** The run as a whole decides how its characters are read; its words decide where a breath is possible. */
function hanSounds(run: string): string {
	const syllables = pinyin(run, { toneType: "num", type: "array", v: true });
	const characters = [...run];
	// If characters and syllables do not correspond one to one, the run is not split into words.
	if (syllables.length !== characters.length) return syllables.map(pinyinSounds).join("");
	const sounds: string[] = [];
	let at = 0;
	for (const { segment } of WORDS.segment(run)) {
		const length = [...segment].length;
		sounds.push(
			syllables
				.slice(at, at + length)
				.map(pinyinSounds)
				.join(""),
		);
		at += length;
	}
	return sounds.filter((word) => word !== "").join(" ");
}
