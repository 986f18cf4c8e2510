import { expect, test } from "bun:test";
import { decodeText } from "./decode-text.ts";
import { shortTextEncoding } from "./short-texts.ts";

const bytesOf = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"));

test.each([
	["shift_jis", "b1b2b3b4b5", "ｱｲｳｴｵ"],
	["shift_jis", "c3bdc4", "ﾃｽﾄ"],
	["shift_jis", "d4cfc0de20c0dbb30abdbddeb720b2c1dbb30a", "ﾔﾏﾀﾞ ﾀﾛｳ\nｽｽﾞｷ ｲﾁﾛｳ\n"],
	["shift_jis", "8e8196bc2cb6c50a8e52936391be98592cd4cfc0dec0dbb30a", "氏名,ｶﾅ\n山田太郎,ﾔﾏﾀﾞﾀﾛｳ\n"],
	["shift_jis", "b629d4cfc0debcaeb3c3dd20313030300a", "ｶ)ﾔﾏﾀﾞｼｮｳﾃﾝ 1000\n"],
	["shift_jis", "8fa49569bab0c4de0989bf8a690a", "商品ｺｰﾄﾞ\t価格\n"],
	["shift_jis", "938c8b9e", "東京"],
	["shift_jis", "82cd82a2", "はい"],
	["shift_jis", "836583588367", "テスト"],
	["euc_jp", "c5ecb5fe", "東京"],
	["euc_jp", "c6fccbdc", "日本"],
	["euc_jp", "a5c6a5b9a5c8", "テスト"],
	["euc_jp", "8eb18eb28eb38eb48eb5", "ｱｲｳｴｵ"],
	["euc_jp", "bbe1ccbe2c8eb68ec50abbb3c5c4c2c0cfba2c8ed48ecf8ec08ede8ec08edb8eb30a", "氏名,ｶﾅ\n山田太郎,ﾔﾏﾀﾞﾀﾛｳ\n"],
	["gb18030", "c4e3bac3", "你好"],
	["gb18030", "b1b1bea9", "北京"],
	["gb18030", "d6d0b9fa", "中国"],
	["gb18030", "b2e2cad4", "测试"],
	["big5", "b4fab8d5", "測試"],
	["big5", "bb4fa55f", "臺北"],
	["cp949", "bec8b3e7", "안녕"],
	["cp949", "bcadbfef", "서울"],
	["cp949", "b0a8bbe7", "감사"],
	["cp949", "b1e8c3b6bcf6", "김철수"],
	["cp949", "c5d7bdbac6ae", "테스트"],
])("a few letters in %s, %s, are told", (_encoding, hex, text) => {
	expect(decodeText(bytesOf(hex))).toBe(text);
});

test.each([
	["windows-1251", "cff0e8e2e5f2"],
	["windows-1251", "ccced1cac2c0"],
	["KOI8-R", "edcfd3cbd7c1"],
	["ISO 8859-5", "bfe0d8d2d5e2"],
	["windows-1253", "c1e8deede1"],
	["windows-1250", "a3f3649f"],
	["windows-1252", "c4d6dc"],
	["windows-1252", "c9434f4c4520c0"],
	["windows-1252", "bf5175e93f2031ba2c2032aa"],
	["windows-1252", "93c094"],
	["windows-1255", "f9ece5ed"],
	["windows-1256", "e3d1cdc8c7"],
	["TIS-620", "a1c3d8a7e0b7be"],
	["code page 850", "477294e165"],
])("a few letters in %s, %s, are none of East Asia", (_encoding, hex) => {
	expect(shortTextEncoding(bytesOf(hex))).toBeNull();
});

test("a name that two encodings may have written is left open", () => {
	// \u5f20\u4f1f in GB 18030 are four letters of Western capitals.
	expect(shortTextEncoding(bytesOf("d5c5ceb0"))).toBeNull();
	expect(shortTextEncoding(bytesOf("cac7"))).toBeNull();
});
