/**
 * One request for each endpoint, as data: the pages of the endpoints show it in curl, Python and TypeScript, and a test
 * sends all three. Values like `$ACCOUNT_ID` are variables that the reader sets.
 */

export interface Example {
	/** Of the path, by their names in it. */
	readonly path?: Readonly<Record<string, string>>;
	readonly query?: Readonly<Record<string, string>>;
	readonly headers?: Readonly<Record<string, string>>;
	readonly json?: Readonly<Record<string, unknown>>;
	/** Fields of a form; one that begins with @ is a file. */
	readonly form?: Readonly<Record<string, string>>;
	/** Where the answer is no JSON: the file that it goes into. */
	readonly into?: string;
	/** It needs no credential. */
	readonly open?: boolean;
}

const messages = [{ role: "user", content: "Say hello in one sentence." }];
const account = { id: "$ACCOUNT_ID" };
const once = { "Idempotency-Key": "$REFERENCE" };

/** By operationId of the OpenAPI document. */
export const EXAMPLES: Readonly<Record<string, Example>> = {
	chat_post: { json: { model: "default", messages } },
	responses_post: { json: { model: "default", input: "Say hello in one sentence." } },
	completions_post: { json: { model: "default", prompt: "The days of the week are Monday,", max_tokens: 8 } },
	messages_post: { json: { model: "default", max_tokens: 200, messages } },
	"messages-count-tokens_post": { json: { model: "default", messages } },
	"audio-speech_post": {
		json: { model: "tts-orpheus", input: "Hello there.", voice: "tara", response_format: "wav" },
		into: "hello.wav",
	},
	"audio-transcriptions_post": { form: { model: "openai/whisper-large-v3", file: "@speech.wav" } },
	"audio-voices-list": {},
	"image-edit_post": {
		form: { model: "local-edit", prompt: "resize to 300x200 and invert", image: "@photo.png" },
		into: "edited.png",
	},
	"images-edits_post": { form: { model: "local-edit", prompt: "resize to 300x200 and invert", image: "@photo.png" } },
	"image-generate_post": { json: { model: "z-image-turbo", prompt: "a red kite" } },
	"images-generations_post": { json: { model: "z-image-turbo", prompt: "a red kite" } },
	"image-generations_post": { json: { model: "z-image-turbo", prompt: "a red kite" } },
	"image-styles": {},
	"text-parser_post": { form: { file: "@report.txt", response_format: "json" } },
	scrape_post: { json: { url: "$PAGE_URL" } },
	search_post: { json: { query: "tea", limit: 3 } },
	models: { query: { type: "text" } },
	"model-traits": { query: { type: "text" } },
	"model-mapping": {},
	model: { path: { id: "$MODEL_ID" } },
	characters: { query: { limit: "5" } },
	"api-keys": { query: { limit: "10" } },
	"api-keys_post": {
		json: { apiKeyType: "INFERENCE", description: "a bot", consumptionLimit: { usd: 5 }, limitPeriod: "MONTH" },
	},
	"api-keys_patch": { json: { id: "$KEY_ID", consumptionLimit: { usd: 10 } } },
	"api-key": { path: { id: "$KEY_ID" } },
	"rate-limits": {},
	"rate-limit-log": {},
	"generate-web3-key": { open: true },
	"admin-accounts": { query: { limit: "10" } },
	"admin-accounts_post": { json: { name: "a customer", creditUsd: "25" } },
	"admin-account": { path: account },
	"admin-account_patch": { path: account, json: { tier: "partner" } },
	"admin-credits_post": { path: account, headers: once, json: { amountUsd: "25" } },
	"admin-credits": { path: account },
	"admin-debits": { path: account },
	"admin-refunds": { path: account },
	"admin-keys": { path: account },
	"admin-keys_post": { path: account, json: { apiKeyType: "INFERENCE", description: "their bot" } },
	"crypto-rpc-networks": {},
	"crypto-rpc_post": { path: { network: "ethereum-mainnet" }, json: { jsonrpc: "2.0", id: 1, method: "eth_chainId" } },
	"billing-balance": {},
	"billing-usage": { query: { limit: "10" } },
	"billing-usage-history": { query: { pageSize: "100" } },
	"billing-usage-analytics": { query: { lookback: "7d" } },
	"billing-movements": { query: { pageSize: "100" } },
	openapi: { open: true },
};
