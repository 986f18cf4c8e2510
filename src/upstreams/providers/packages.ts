/**
 * The package of each provider, loaded at first use, and its model factories. Kinds that a provider lacks are absent;
 * `offers` in src/config/providers.ts says the same, which a test compares.
 */

import type { ImageModelV4, LanguageModelV4, SpeechModelV4, TranscriptionModelV4 } from "@ai-sdk/provider";
import type { ProviderName } from "../../config/providers.ts";
import type { PackageFetch } from "./provider-fetch.ts";

/** The settings of every package. */
export interface PackageSettings {
	readonly apiKey: string;
	/** Absent if the package knows only one address, or finds it by itself. */
	readonly baseURL?: string;
	readonly headers: Record<string, string>;
	readonly fetch: PackageFetch;
}

/** The model factories by kind. They take the provider's own name for the model. */
export interface ModelMakers {
	readonly chat?: (model: string) => LanguageModelV4;
	readonly image?: (model: string) => ImageModelV4;
	readonly speech?: (model: string) => SpeechModelV4;
	readonly transcription?: (model: string) => TranscriptionModelV4;
}

type Options = Readonly<Record<string, string>>;

interface PackageEntry {
	load(settings: PackageSettings, options: Options): Promise<ModelMakers>;
	/** Addresses that the package has built in. With a `url` of the operator, requests to them go there. */
	readonly fixed?: readonly string[];
	/** True if the package finds the provider's address in a way that no single text can express. */
	readonly findsAddress?: true;
}

export const PACKAGES: Readonly<Record<ProviderName, PackageEntry>> = {
	anthropic: {
		async load(settings) {
			const provider = (await import("@ai-sdk/anthropic")).createAnthropic(settings);
			return { chat: (model) => provider.languageModel(model) };
		},
	},
	assemblyai: {
		fixed: ["https://api.assemblyai.com"],
		async load(settings) {
			const provider = (await import("@ai-sdk/assemblyai")).createAssemblyAI(settings);
			return { transcription: (model) => provider.transcription(model) };
		},
	},
	/** Serves its OpenAI models. The transcription address is another host, derived from the resource's name. */
	azure: {
		findsAddress: true,
		async load(settings, { resource, apiVersion }) {
			const provider = (await import("@ai-sdk/azure")).createAzure({
				...settings,
				...(resource === undefined ? {} : { resourceName: resource }),
				...(apiVersion === undefined ? {} : { apiVersion }),
				...(settings.baseURL === undefined ? {} : { speechBaseURL: settings.baseURL }),
			});
			return {
				chat: (model) => provider.chat(model),
				image: (model) => provider.imageModel(model),
				speech: (model) => provider.speech(model),
				transcription: (model) => provider.transcription(model),
			};
		},
	},
	/** An empty key selects signed requests, whatever the environment contains. */
	bedrock: {
		async load(settings, { region, accessKeyId, secretAccessKey, sessionToken }) {
			const provider = (await import("@ai-sdk/amazon-bedrock")).createAmazonBedrock({
				...settings,
				...(region === undefined ? {} : { region }),
				...(accessKeyId === undefined ? {} : { accessKeyId }),
				...(secretAccessKey === undefined ? {} : { secretAccessKey }),
				...(sessionToken === undefined ? {} : { sessionToken }),
			});
			return { chat: (model) => provider.languageModel(model), image: (model) => provider.imageModel(model) };
		},
	},
	"black-forest-labs": {
		async load(settings) {
			const provider = (await import("@ai-sdk/black-forest-labs")).createBlackForestLabs(settings);
			return { image: (model) => provider.imageModel(model) };
		},
	},
	cerebras: {
		async load(settings) {
			const provider = (await import("@ai-sdk/cerebras")).createCerebras(settings);
			return { chat: (model) => provider.languageModel(model) };
		},
	},
	cohere: {
		async load(settings) {
			const provider = (await import("@ai-sdk/cohere")).createCohere(settings);
			return { chat: (model) => provider.languageModel(model) };
		},
	},
	deepgram: {
		fixed: ["https://api.deepgram.com"],
		async load(settings) {
			const provider = (await import("@ai-sdk/deepgram")).createDeepgram(settings);
			return { speech: (model) => provider.speech(model), transcription: (model) => provider.transcription(model) };
		},
	},
	deepinfra: {
		async load(settings) {
			const provider = (await import("@ai-sdk/deepinfra")).createDeepInfra(settings);
			return { chat: (model) => provider.chatModel(model), image: (model) => provider.imageModel(model) };
		},
	},
	deepseek: {
		async load(settings) {
			const provider = (await import("@ai-sdk/deepseek")).createDeepSeek(settings);
			return { chat: (model) => provider.languageModel(model) };
		},
	},
	elevenlabs: {
		fixed: ["https://api.elevenlabs.io"],
		async load(settings) {
			const provider = (await import("@ai-sdk/elevenlabs")).createElevenLabs(settings);
			return { speech: (model) => provider.speech(model), transcription: (model) => provider.transcription(model) };
		},
	},
	fal: {
		fixed: ["https://queue.fal.run", "https://fal.run"],
		async load(settings) {
			const provider = (await import("@ai-sdk/fal")).createFal(settings);
			return {
				image: (model) => provider.imageModel(model),
				speech: (model) => provider.speech(model),
				transcription: (model) => provider.transcription(model),
			};
		},
	},
	fireworks: {
		async load(settings) {
			const provider = (await import("@ai-sdk/fireworks")).createFireworks(settings);
			return { chat: (model) => provider.chatModel(model), image: (model) => provider.imageModel(model) };
		},
	},
	gladia: {
		fixed: ["https://api.gladia.io"],
		async load(settings) {
			const provider = (await import("@ai-sdk/gladia")).createGladia(settings);
			return { transcription: () => provider.transcription() };
		},
	},
	google: {
		async load(settings) {
			const provider = (await import("@ai-sdk/google")).createGoogle(settings);
			return {
				chat: (model) => provider.languageModel(model),
				image: (model) => provider.imageModel(model),
				speech: (model) => provider.speech(model),
				transcription: (model) => provider.transcription(model),
			};
		},
	},
	"google-vertex": {
		findsAddress: true,
		fixed: ["https://texttospeech.googleapis.com"],
		async load(settings, options) {
			const { vertexSettings } = await import("./vertex-settings.ts");
			const provider = (await import("@ai-sdk/google-vertex")).createGoogleVertex(vertexSettings(settings, options));
			return {
				chat: (model) => provider.languageModel(model),
				image: (model) => provider.imageModel(model),
				speech: (model) => provider.speech(model),
				transcription: (model) => provider.transcription(model),
			};
		},
	},
	groq: {
		async load(settings) {
			const provider = (await import("@ai-sdk/groq")).createGroq(settings);
			return { chat: (model) => provider.languageModel(model), transcription: (model) => provider.transcription(model) };
		},
	},
	hume: {
		fixed: ["https://api.hume.ai"],
		async load(settings) {
			const provider = (await import("@ai-sdk/hume")).createHume(settings);
			return { speech: () => provider.speech() };
		},
	},
	lmnt: {
		fixed: ["https://api.lmnt.com"],
		async load(settings) {
			const provider = (await import("@ai-sdk/lmnt")).createLMNT(settings);
			return { speech: (model) => provider.speech(model) };
		},
	},
	luma: {
		async load(settings) {
			const provider = (await import("@ai-sdk/luma")).createLuma(settings);
			return { image: (model) => provider.imageModel(model) };
		},
	},
	mistral: {
		async load(settings) {
			const provider = (await import("@ai-sdk/mistral")).createMistral(settings);
			return {
				chat: (model) => provider.languageModel(model),
				speech: (model) => provider.speech(model),
				transcription: (model) => provider.transcription(model),
			};
		},
	},
	openai: {
		async load(settings, { organization, project }) {
			const provider = (await import("@ai-sdk/openai")).createOpenAI({
				...settings,
				...(organization === undefined ? {} : { organization }),
				...(project === undefined ? {} : { project }),
			});
			return {
				chat: (model) => provider.chat(model),
				image: (model) => provider.imageModel(model),
				speech: (model) => provider.speech(model),
				transcription: (model) => provider.transcription(model),
			};
		},
	},
	perplexity: {
		async load(settings) {
			const provider = (await import("@ai-sdk/perplexity")).createPerplexity(settings);
			return { chat: (model) => provider.languageModel(model) };
		},
	},
	replicate: {
		async load({ apiKey, ...settings }) {
			const provider = (await import("@ai-sdk/replicate")).createReplicate({ ...settings, apiToken: apiKey });
			return { image: (model) => provider.imageModel(model) };
		},
	},
	revai: {
		fixed: ["https://api.rev.ai"],
		async load(settings) {
			const provider = (await import("@ai-sdk/revai")).createRevai(settings);
			return {
				transcription: (model) =>
					provider.transcription(model === "machine" || model === "low_cost" || model === "fusion" ? model : "machine"),
			};
		},
	},
	togetherai: {
		async load(settings) {
			const provider = (await import("@ai-sdk/togetherai")).createTogetherAI(settings);
			return { chat: (model) => provider.chatModel(model), image: (model) => provider.imageModel(model) };
		},
	},
	/** Chat uses its Responses API. Speech and transcription have one model each. */
	xai: {
		async load(settings) {
			const provider = (await import("@ai-sdk/xai")).createXai(settings);
			return {
				chat: (model) => provider.languageModel(model),
				image: (model) => provider.imageModel(model),
				speech: () => provider.speech(),
				transcription: () => provider.transcription(),
			};
		},
	},
};
