import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { hasSound, knownSymbols, MAX_TOKENS, tokensOf } from "../kokoro-vocabulary.ts";
import type { SpeechLanguage } from "../port.ts";
import { kanaSounds } from "./kana.ts";
import { Phonemizer, runsOf } from "./phonemizer.ts";
import { pinyinSounds } from "./pinyin-sounds.ts";

let phonemizer: Phonemizer;
beforeAll(async () => {
	phonemizer = await Phonemizer.load();
});
const of = async (text: string, language: SpeechLanguage) => (await phonemizer.phonemes(text, language)).join(" | ");

describe("text becomes the symbols that the model was trained on", () => {
	test("American English: flaps, one letter for a diphthong, no lengths", async () => {
		expect(await of("The butter is better.", "en-us")).toBe("ðə bˈʌTəɹ ɪz bˈɛTəɹ.");
		expect(await of("Go now, my boy; say hey!", "en-us")).toBe("ɡˌO nˈW, mI bˈY; sˈA hˈA!");
		expect(await of("The bird chose juice", "en-us")).toBe("ðə bˈɜɹd ʧˈOz ʤˈus");
	});

	test("British English: its own vowels, with lengths", async () => {
		expect(await of("Go home in the car.", "en-gb")).toBe("ɡˌQ hˈQm ɪnðə kˈɑː.");
		expect(await of("The bird is there.", "en-gb")).toBe("ðə bˈɜːd ɪz ðˈɛː.");
	});

	test("punctuation is kept where it makes melody, and within numbers is none", async () => {
		expect(await of('"Well," she said... no (really)?', "en-us")).toMatch(/^“wˈɛl,” ʃi sˈɛd… nˈO \(ɹˈiəli\)\?$/);
		expect(await of("Pi is 3.14!!!", "en-us")).toMatch(/^pˈI ɪz θɹˈi pˈYnt wˈʌn fˈɔɹ!$/);
	});

	test("the languages of the other voices", async () => {
		expect(await of("Hola, ¿cómo estás?", "es")).toBe("ˈola, kˈomo estˈas?");
		expect(await of("Bonjour, un bon vin.", "fr")).toBe("bɔ̃ʒˈuʁ, œ̃ bˈɔ̃ vˈɛ̃.");
		expect(await of("Buongiorno, gli spaghetti.", "it")).toBe("bʊonʤˈɔrno, ʎɪ spaɡˈetːɪ.");
		expect(await of("Bom dia.", "pt-br")).toBe("bˈoŋ ʤˈiæ.");
		expect(await of("नमस्ते।", "hi")).toBe("nəmˈʌsteː.");
		expect(await of("こんにちは、今日は東京へ。", "ja")).toBe("koɲɲiʨiβa, kʲoː βa toːkʲoː e.");
		expect(await of("你好，世界。", "zh")).toBe("ni↓xau↓, ʂɨ↘ʨje↘.");
	});

	test("foreign words within Japanese and Chinese are said in English", async () => {
		expect(await of("AI", "ja")).toContain("ˈI");
		expect(await of("我用Python", "zh")).toContain("pˈIθən");
	});

	test("nothing comes of a text without sound", async () => {
		for (const language of ["en-us", "ja", "zh", "es"] as const)
			expect(await phonemizer.phonemes("🙂 ... !?", language)).toEqual([]);
	});

	test("whatever comes in, only known symbols come out, in runs that the model takes", async () => {
		const languages = ["en-us", "en-gb", "es", "fr", "hi", "it", "ja", "pt-br", "zh"] as const;
		const texts = fc.oneof(fc.string({ unit: "binary", maxLength: 80 }), fc.string({ unit: "grapheme", maxLength: 80 }));
		await fc.assert(
			fc.asyncProperty(texts, fc.constantFrom(...languages), async (text, language) => {
				for (const run of await phonemizer.phonemes(text, language)) {
					expect(knownSymbols(run)).toBe(run);
					expect(hasSound(run)).toBe(true);
					expect([...run].length).toBeLessThanOrEqual(MAX_TOKENS);
				}
			}),
			{ numRuns: 60 },
		);
	});

	test("a word without end and eSpeak's own commands are text like any other", async () => {
		expect((await phonemizer.phonemes("a".repeat(200), "en-us")).length).toBeGreaterThan(0);
		expect(await of("[[h@l'oU]] <mark name='x'/> \u0001\u0002", "en-us")).toMatch(/mˈɑɹk nˈAm/);
	});
});

test("symbols have the numbers of the published vocabulary, between two pads", () => {
	expect([...tokensOf("həlˈO, ᵻ!")].map(Number)).toEqual([0, 50, 83, 54, 156, 31, 3, 16, 177, 5, 0]);
	expect(knownSymbols("aგb漢")).toBe("ab");
});

test("long runs are cut after a sign, else between words, else anywhere", () => {
	expect(runsOf("abc, def ghi", 10)).toEqual(["abc, def", "ghi"]);
	expect(runsOf("abcdef, ghi", 9)).toEqual(["abcdef,", "ghi"]);
	expect(runsOf("abcdefghij", 4)).toEqual(["abcd", "efgh", "ij"]);
	expect(runsOf("", 4)).toEqual([]);
});

test("kana: a nasal takes the place of what follows it", () => {
	expect(["シンブン", "テンキ", "コンニチ", "アンナ", "ホン"].map(kanaSounds)).toEqual([
		"ɕimbɯɴ",
		"teŋkʲi",
		"koɲɲiʨi",
		"anna",
		"hoɴ",
	]);
	expect(kanaSounds("キャッチ")).toBe("kʲaʔʨi");
	expect(kanaSounds("コーヒー")).toBe("koːçiː");
});

test("pinyin: tones after the vowel, glides for w and y, the apical vowel", () => {
	const pairs: [string, string][] = [
		["zhong1", "ꭧʊ→ŋ"],
		["guo2", "kwo↗"],
		["yuan2", "ɥɛ↗n"],
		["xue2", "ɕɥe↗"],
		["lv4", "ly↘"],
		["shi4", "ʂɨ↘"],
		["si4", "sɨ↘"],
		["wei4", "wei↘"],
		["you3", "jou↓"],
		["er2", "ɚ↗"],
		["de0", "tɤ"],
		["xyz", ""],
	];
	expect(pairs.map(([syllable]) => pinyinSounds(syllable))).toEqual(pairs.map(([, sound]) => sound));
});
