/**
 * Every endpoint of the API, in the order of the API document. A new endpoint is a folder here, its dependencies in
 * `RouteDeps`, and a line in `apiEndpoints`.
 */
import type { Catalog, Characters } from "../catalog/index.ts";
import type { ChatDeps } from "../completions/index.ts";
import type { Call, Endpoint } from "../server/index.ts";
import type { AdminAccountDeps } from "./admin-accounts/deps.ts";
import { adminAccountRoutes } from "./admin-accounts/index.ts";
import type { ApiKeyDeps } from "./api-keys/deps.ts";
import { apiKeyRoutes } from "./api-keys/index.ts";
import type { SpeechDeps } from "./audio-speech/deps.ts";
import { audioSpeech } from "./audio-speech/index.ts";
import type { TranscriptionDeps } from "./audio-transcriptions/admit.ts";
import { audioTranscriptions } from "./audio-transcriptions/index.ts";
import { audioVoiceRoutes, type VoicesDeps } from "./audio-voices/index.ts";
import type { BillingDeps } from "./billing/deps.ts";
import { billingRoutes } from "./billing/index.ts";
import { characterRoutes } from "./characters/index.ts";
import { chatCompletions } from "./chat-completions/index.ts";
import { completions } from "./completions/index.ts";
import type { RpcDeps } from "./crypto-rpc/deps.ts";
import { cryptoRpcRoutes } from "./crypto-rpc/index.ts";
import type { EmbeddingsDeps } from "./embeddings/deps.ts";
import { embeddings } from "./embeddings/index.ts";
import type { ImageDeps } from "./images/deps.ts";
import { imageRoutes } from "./images/index.ts";
import { messages } from "./messages/index.ts";
import { modelRoutes } from "./models/index.ts";
import { responses } from "./responses/index.ts";
import { scrape } from "./scrape/index.ts";
import type { ScrapeDeps } from "./scrape/scrape.ts";
import { search } from "./search/index.ts";
import type { SearchDeps } from "./search/search.ts";
import { type TeeDeps, teeRoutes } from "./tee/index.ts";
import { textParser } from "./text-parser/index.ts";
import type { TextParserDeps } from "./text-parser/parse.ts";
import { type WalletBalanceDeps, walletBalanceRoute } from "./x402-balance/index.ts";
import { type TopUpDeps, topUpRoute } from "./x402-top-up/index.ts";
import { type WalletTransactionsDeps, walletTransactionsRoute } from "./x402-transactions/index.ts";

/** The dependencies of the routes. They are functions if a reload changes the result. */
export interface RouteDeps {
	readonly chat: ChatDeps;
	readonly tee: TeeDeps;
	readonly speech: SpeechDeps;
	readonly transcription: TranscriptionDeps;
	readonly voices: VoicesDeps;
	readonly images: ImageDeps;
	readonly embeddings: EmbeddingsDeps;
	readonly textParser: TextParserDeps;
	readonly scrape: ScrapeDeps;
	readonly search: SearchDeps;
	readonly models: { readonly catalog: () => Catalog; readonly takeAnonymous: (call: Call) => void };
	readonly characters: { readonly characters: () => Characters; readonly wallMs: () => number };
	readonly apiKeys: ApiKeyDeps;
	readonly adminAccounts: AdminAccountDeps;
	readonly rpc: RpcDeps;
	readonly topUp: TopUpDeps;
	readonly walletBalance: WalletBalanceDeps;
	readonly walletTransactions: WalletTransactionsDeps;
	readonly billing: BillingDeps;
}

/** Returns the endpoints of the API. */
export function apiEndpoints(deps: RouteDeps): Endpoint[] {
	return [
		chatCompletions(deps.chat),
		completions(deps.chat),
		responses(deps.chat),
		...messages(deps.chat),
		...teeRoutes(deps.tee),
		audioSpeech(deps.speech),
		audioTranscriptions(deps.transcription),
		...audioVoiceRoutes(deps.voices),
		...imageRoutes(deps.images),
		embeddings(deps.embeddings),
		textParser(deps.textParser),
		scrape(deps.scrape),
		search(deps.search),
		...modelRoutes(deps.models.catalog, deps.models.takeAnonymous),
		...characterRoutes(deps.characters.characters, deps.characters.wallMs),
		...apiKeyRoutes(deps.apiKeys),
		...adminAccountRoutes(deps.adminAccounts),
		...cryptoRpcRoutes(deps.rpc),
		topUpRoute(deps.topUp),
		walletBalanceRoute(deps.walletBalance),
		walletTransactionsRoute(deps.walletTransactions),
		...billingRoutes(deps.billing),
	];
}
