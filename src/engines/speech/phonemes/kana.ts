/** Converts katakana to the symbols of the Japanese voices. */

/** Alternating moras and their sounds. */
const MORAS = `
ア a イ i ウ ɯ エ e オ o ァ a ィ i ゥ ɯ ェ e ォ o
カ ka キ kʲi ク kɯ ケ ke コ ko ガ ɡa ギ ɡʲi グ ɡɯ ゲ ɡe ゴ ɡo
サ sa シ ɕi ス sɨ セ se ソ so ザ ʣa ジ ʥi ズ zɨ ゼ ʣe ゾ ʣo
タ ta チ ʨi ツ ʦɨ テ te ト to ダ da ヂ ʥi ヅ zɨ デ de ド do
ナ na ニ ɲi ヌ nɯ ネ ne ノ no
ハ ha ヒ çi フ ɸɯ ヘ he ホ ho バ ba ビ bʲi ブ bɯ ベ be ボ bo パ pa ピ pʲi プ pɯ ペ pe ポ po
マ ma ミ mʲi ム mɯ メ me モ mo
ヤ ja ユ jɯ ヨ jo ャ ja ュ jɯ ョ jo
ラ ɾa リ ɾʲi ル ɾɯ レ ɾe ロ ɾo
ワ βa ヮ βa ヰ i ヱ e ヲ o ヴ vɯ ヵ ka ヶ ke
イェ je ウィ βi ウェ βe ウォ βo
キェ kʲe キャ kʲa キュ kʲɨ キョ kʲo ギャ ɡʲa ギュ ɡʲɨ ギョ ɡʲo
クァ kᵝa クィ kᵝi クェ kᵝe クォ kᵝo グァ ɡᵝa グィ ɡᵝi グェ ɡᵝe グォ ɡᵝo
シェ ɕe シャ ɕa シュ ɕɨ ショ ɕo ジェ ʥe ジャ ʥa ジュ ʥɨ ジョ ʥo ヂャ ʥa ヂュ ʥɨ ヂョ ʥo
チェ ʨe チャ ʨa チュ ʨɨ チョ ʨo ツァ ʦa ツィ ʦʲi ツェ ʦe ツォ ʦo
ティ tʲi テュ tʲɨ ディ dʲi デュ dʲɨ トゥ tɯ ドゥ dɯ
ニェ ɲe ニャ ɲa ニュ ɲɨ ニョ ɲo ヒェ çe ヒャ ça ヒュ çɨ ヒョ ço
ビャ bʲa ビュ bʲɨ ビョ bʲo ピャ pʲa ピュ pʲɨ ピョ pʲo
ファ ɸa フィ ɸʲi フェ ɸe フォ ɸo フュ ɸʲɨ フョ ɸʲo
ミャ mʲa ミュ mʲɨ ミョ mʲo リャ ɾʲa リュ ɾʲɨ リョ ɾʲo
ヴァ va ヴィ vʲi ヴェ ve ヴォ vo
`
	.trim()
	.split(/\s+/);

const SOUNDS: ReadonlyMap<string, string> = new Map(
	MORAS.flatMap((mora, index) => (index % 2 === 0 ? [[mora, MORAS[index + 1] ?? ""] as const] : [])),
);

/** ン changes with the following sound. */
const NASALS: readonly (readonly [following: RegExp, sound: string])[] = [
	[/^[mpb]/, "m"],
	[/^[kɡ]/, "ŋ"],
	[/^[ɲʨʥ]/, "ɲ"],
	[/^[ntdɾzʣ]/, "n"],
];

/**
 * Returns the sounds of katakana.
 * @param kana katakana, also ン, ッ and ー; other characters are skipped
 */
export function kanaSounds(kana: string): string {
	const sounds: string[] = [];
	for (let at = 0; at < kana.length; ) {
		const two = SOUNDS.get(kana.slice(at, at + 2));
		const length = two !== undefined && kana.length >= at + 2 ? 2 : 1;
		const mora = kana.slice(at, at + length);
		sounds.push(mora === "ン" || mora === "ッ" ? mora : mora === "ー" ? "ː" : (SOUNDS.get(mora) ?? ""));
		at += length;
	}
	return sounds
		.map((sound, index) => {
			const next = sounds[index + 1] ?? "";
			if (sound === "ン") return NASALS.find(([following]) => following.test(next))?.[1] ?? "ɴ";
			return sound === "ッ" ? (next === "" ? "" : "ʔ") : sound;
		})
		.join("");
}

/** Converts hiragana to katakana; other characters stay. */
export const katakana = (text: string): string =>
	text.replace(/[ぁ-ゖ]/g, (kana) => String.fromCharCode(kana.charCodeAt(0) + 0x60));
