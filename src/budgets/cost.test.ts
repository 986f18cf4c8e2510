import { expect, test } from "bun:test";
import { type CostSettings, costOf } from "./cost.ts";

const SETTINGS = {
	costs: { "search-request": 0.005, "crypto-rpc-base-mainnet-credit": 0.0000001, "drawn-input-image-unit": 0.001 },
	models: {
		entries: {
			chat: { cost: { input: 2, output: 8 } },
			vectors: { cost: { input: 0.1 } },
			drawn: { cost: { each: 0.03 } },
			spoken: { cost: { each: 15 } },
			heard: { cost: { each: 0.0001 } },
			free: { cost: { input: 0, output: 0 } },
			unknown: {},
		},
	},
} as unknown as CostSettings;

test.each([
	["chat-llm-input-mtoken", 1_000, 2_000_000],
	["chat-llm-cache-input-mtoken", 1_000, 2_000_000],
	["chat-llm-output-mtoken", 1_000, 8_000_000],
	["vectors-llm-input-mtoken", 10, 1_000],
	["drawn-image-unit", 3, 90_000_000],
	["drawn-input-image-unit", 2, 2_000_000],
	["spoken-tts-mcharacter", 100, 1_500_000],
	["heard-asr-second", 12_500, 1_250_000],
	["free-llm-output-mtoken", 5, 0],
	["search-request", 2, 10_000_000],
	["crypto-rpc-base-mainnet-credit", 20, 2_000],
])("%s costs what the configuration says", (sku, units, nano) => {
	expect(costOf(SETTINGS, sku, units)).toBe(nano);
});

test.each([
	"unknown-llm-input-mtoken",
	"absent-image-unit",
	"vectors-llm-output-mtoken",
	"chat-image-unit",
	"scrape-page",
	"toString",
])("%s has no cost", (sku) => {
	expect(costOf(SETTINGS, sku, 1)).toBeNull();
});
