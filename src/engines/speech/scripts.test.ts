import { expect, test } from "bun:test";
import { languageByScript, unsayableScript } from "./scripts.ts";

test.each([
	["こんにちは、世界。", "Japanese"],
	["東京へ行きます", "Japanese"],
	["私はMicrosoft Officeを使っています", "Japanese"],
	["你好，世界", "Chinese or Japanese"],
	["Привет, как дела?", "Cyrillic"],
	["Доброго дня", "Cyrillic"],
	["Καλημέρα σας", "Greek"],
	["안녕하세요", "Korean"],
	["مرحبا بالعالم", "Arabic"],
	["שלום עולם", "Hebrew"],
	["สวัสดีครับ", "Thai"],
	["मैं दिल्ली में रहती हूँ", "Devanagari"],
	["ᚠᚢᚦᚨᚱᚲ", "another script"],
] as const)("voices of Latin languages cannot say %s", (text, script) => {
	for (const language of ["en-us", "en-gb", "es", "fr", "it", "pt-br"] as const)
		expect(unsayableScript(text, language)).toBe(script);
});

test.each([
	"Hello there.",
	"The word 日本 means Japan.",
	"Konnichiwa (こんにちは) means hello.",
	"Moscow (Москва) is the capital.",
	"α and β, Δt, 5 µm, π",
	"α β γ",
	"12:30, 50 %, €20",
	"ｆｕｌｌ ｗｉｄｔｈ",
	"Crème brûlée, Straße, Łódź, Tiếng Việt",
	"e\u0301a\u0300",
	"",
	"!?",
])("an English voice can say %j", (text) => {
	expect(unsayableScript(text, "en-us")).toBeNull();
});

test("voices of other scripts say their own and Latin letters, and not each other's", () => {
	expect(unsayableScript("明日は東京へ行きます。", "ja")).toBeNull();
	expect(unsayableScript("我们去北京的银行。", "zh")).toBeNull();
	expect(unsayableScript("मैं दिल्ली में OK", "hi")).toBeNull();
	for (const language of ["ja", "zh", "hi"] as const) expect(unsayableScript("Hello there", language)).toBeNull();
	expect(unsayableScript("こんにちは", "zh")).toBe("Japanese");
	expect(unsayableScript("안녕하세요", "ja")).toBe("Korean");
	expect(unsayableScript("我们去北京", "hi")).toBe("Chinese or Japanese");
});

test.each([
	["Hello", "en-us"],
	["明日は東京へ行きます。", "ja"],
	["ハロー", "ja"],
	["我们去北京的银行。", "zh"],
	["मैं दिल्ली में", "hi"],
	["Привет", null],
	["안녕하세요", null],
] as const)("%s is for a voice of %s", (text, language) => {
	expect(languageByScript(text, "en-us")).toBe(language);
});
