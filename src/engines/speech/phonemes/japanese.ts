import { dirname, join } from "node:path";
import * as kuromoji from "@patdx/kuromoji";
import NodeDictionaryLoader from "@patdx/kuromoji/node";
import { japaneseNumber } from "../reading/japanese-numbers.ts";
import { kanaSounds, katakana } from "./kana.ts";

type Tokenizer = Awaited<ReturnType<kuromoji.TokenizerBuilder["build"]>>;

const NUMBER = /\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?/g;
const SIGNS: readonly (readonly [RegExp, string])[] = [
	[/([\d.,]*\d)\s?%/g, "$1パーセント"],
	[/[¥￥]\s?([\d.,]*\d)/g, "$1円"],
	[/\$\s?([\d.,]*\d)/g, "$1ドル"],
	[/%/g, "パーセント"],
	[/\+/g, "プラス"],
	[/=/g, "イコール"],
	[/&/g, "アンド"],
	[/@/g, "アットマーク"],
	[/・/g, " "],
	[/[〜~](?=\d)/g, "から"],
];

const LATIN = /^[\p{Script=Latin}\p{M}'’.-]+$/u;

/** Reads Japanese words, including kanji. The dictionary is large and loaded at the first text. */
export class JapaneseReader {
	#tokenizer: Promise<Tokenizer> | null = null;

	/**
	 * Returns the sounds, with spaces between words.
	 * @param words of one clause
	 * @param readLatin reads a foreign word
	 */
	async sounds(words: string, readLatin: (word: string) => string): Promise<string> {
		const text = SIGNS.reduce((reading, [from, to]) => reading.replace(from, to), words).replace(NUMBER, japaneseNumber);
		this.#tokenizer ??= loadTokenizer();
		const tokens = (await this.#tokenizer).tokenize(text);
		const sounds: string[] = [];
		for (const { surface_form: surface, pronunciation, reading, pos, word_type: type } of tokens) {
			if (LATIN.test(surface) && type === "UNKNOWN") sounds.push(readLatin(surface));
			else {
				const sound = kanaSounds(katakana(pronunciation ?? reading ?? surface));
				// Endings belong to the previous word: ます to 行き.
				const joins = pos === "助動詞" && sounds.length > 0;
				if (joins) sounds.push((sounds.pop() ?? "") + sound);
				else sounds.push(sound);
			}
		}
		return sounds.filter((sound) => sound !== "").join(" ");
	}
}

function loadTokenizer(): Promise<Tokenizer> {
	const folder = join(dirname(Bun.resolveSync("@patdx/kuromoji/node", import.meta.dir)), "../dict/");
	return new kuromoji.TokenizerBuilder({ loader: new NodeDictionaryLoader({ dic_path: folder }) }).build();
}
