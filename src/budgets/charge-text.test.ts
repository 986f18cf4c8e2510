import { expect, test } from "bun:test";
import { chargeText } from "./charge-text.ts";

test.each([
	["m-llm-output-mtoken", 113, 2_000_000, 226_000, "113 tokens at 2 USD a million = 0.000226 USD"],
	["m-llm-input-mtoken", 1, 150_000, 150, "1 token at 0.15 USD a million = 0.00000015 USD"],
	["m-tts-mcharacter", 12, 15_000_000, 180_000, "12 characters at 15 USD a million = 0.00018 USD"],
	["m-asr-second", 12_500, 100_000, 1_250_000, "12.5 seconds at 0.0001 USD a second = 0.00125 USD"],
	["m-asr-second", 1_000, 100_000, 100_000, "1 second at 0.0001 USD a second = 0.0001 USD"],
	["m-image-unit", 2, 40_000_000_000, 80_000_000, "2 images at 0.04 USD each = 0.08 USD"],
	["crypto-rpc-base-mainnet-credit", 20, 625_000, 12_500, "20 credits at 0.000000625 USD each = 0.0000125 USD"],
	["search-request", 1, 10_000_000_000, 10_000_000, "1 unit at 0.01 USD each = 0.01 USD"],
])("a charge of %s says how it was made", (sku, units, picoPrice, amount, text) => {
	expect(chargeText({ sku, units, picoPrice, amount })).toBe(text);
});
