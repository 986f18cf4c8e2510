/**
 * The providers with their own protocols (docs/configuration.md, `upstreams.*.provider`): what each offers, its address and its
 * options. Data, no logic.
 * Sources: each provider's API reference, and the settings of its package.
 */

/** The kind of a provider's models. */
export type Offer = "chat" | "image" | "speech" | "transcription";

export interface ProviderDefinition {
	readonly offers: readonly Offer[];
	/** The provider's address; `{name}` is replaced by the option of that name. */
	readonly url: string;
	/** Its options besides `key`; `secret` ones never appear in a log or an error. */
	readonly options: Readonly<Record<string, "plain" | "secret">>;
	/** Sets of options, of which one must be complete: names of options, `key` and `url`. */
	readonly needs: readonly (readonly string[])[];
}

const KEY_ONLY = { options: {}, needs: [["key"]] } as const;

export const PROVIDERS = {
	anthropic: { offers: ["chat"], url: "https://api.anthropic.com/v1", ...KEY_ONLY },
	assemblyai: { offers: ["transcription"], url: "https://api.assemblyai.com", ...KEY_ONLY },
	azure: {
		offers: ["chat", "image", "speech", "transcription"],
		url: "https://{resource}.openai.azure.com/openai",
		options: { resource: "plain", apiVersion: "plain" },
		needs: [
			["key", "resource"],
			["key", "url"],
		],
	},
	bedrock: {
		offers: ["chat", "image"],
		url: "https://bedrock-runtime.{region}.amazonaws.com",
		options: { region: "plain", accessKeyId: "secret", secretAccessKey: "secret", sessionToken: "secret" },
		needs: [
			["region", "key"],
			["region", "accessKeyId", "secretAccessKey"],
		],
	},
	"black-forest-labs": { offers: ["image"], url: "https://api.bfl.ai/v1", ...KEY_ONLY },
	cerebras: { offers: ["chat"], url: "https://api.cerebras.ai/v1", ...KEY_ONLY },
	cohere: { offers: ["chat"], url: "https://api.cohere.com/v2", ...KEY_ONLY },
	deepgram: { offers: ["speech", "transcription"], url: "https://api.deepgram.com", ...KEY_ONLY },
	deepinfra: { offers: ["chat", "image"], url: "https://api.deepinfra.com/v1", ...KEY_ONLY },
	deepseek: { offers: ["chat"], url: "https://api.deepseek.com", ...KEY_ONLY },
	elevenlabs: { offers: ["speech", "transcription"], url: "https://api.elevenlabs.io", ...KEY_ONLY },
	fal: { offers: ["image", "speech", "transcription"], url: "https://fal.run", ...KEY_ONLY },
	fireworks: { offers: ["chat", "image"], url: "https://api.fireworks.ai/inference/v1", ...KEY_ONLY },
	gladia: { offers: ["transcription"], url: "https://api.gladia.io", ...KEY_ONLY },
	google: {
		offers: ["chat", "image", "speech", "transcription"],
		url: "https://generativelanguage.googleapis.com/v1beta",
		...KEY_ONLY,
	},
	/** Uses a key in its express mode; otherwise a service account, for which tokens are fetched. */
	"google-vertex": {
		offers: ["chat", "image", "speech", "transcription"],
		url: "https://aiplatform.googleapis.com",
		options: { project: "plain", location: "plain", clientEmail: "plain", privateKey: "secret", privateKeyId: "plain" },
		needs: [["key"], ["project", "location", "clientEmail", "privateKey"]],
	},
	groq: { offers: ["chat", "transcription"], url: "https://api.groq.com/openai/v1", ...KEY_ONLY },
	hume: { offers: ["speech"], url: "https://api.hume.ai", ...KEY_ONLY },
	lmnt: { offers: ["speech"], url: "https://api.lmnt.com", ...KEY_ONLY },
	luma: { offers: ["image"], url: "https://api.lumalabs.ai", ...KEY_ONLY },
	mistral: { offers: ["chat", "speech", "transcription"], url: "https://api.mistral.ai/v1", ...KEY_ONLY },
	openai: {
		offers: ["chat", "image", "speech", "transcription"],
		url: "https://api.openai.com/v1",
		options: { organization: "plain", project: "plain" },
		needs: [["key"]],
	},
	perplexity: { offers: ["chat"], url: "https://api.perplexity.ai", ...KEY_ONLY },
	replicate: { offers: ["image"], url: "https://api.replicate.com/v1", ...KEY_ONLY },
	revai: { offers: ["transcription"], url: "https://api.rev.ai", ...KEY_ONLY },
	togetherai: { offers: ["chat", "image"], url: "https://api.together.xyz/v1", ...KEY_ONLY },
	xai: { offers: ["chat", "image", "speech", "transcription"], url: "https://api.x.ai/v1", ...KEY_ONLY },
} as const satisfies Readonly<Record<string, ProviderDefinition>>;

export type ProviderName = keyof typeof PROVIDERS;
export const PROVIDER_NAMES = Object.keys(PROVIDERS) as ProviderName[];

export function providerDefinition(name: ProviderName): ProviderDefinition {
	return PROVIDERS[name];
}

/** Returns the provider's own address under these options. */
export function ownAddress(name: ProviderName, options: Readonly<Record<string, string>> = {}): string {
	return providerDefinition(name).url.replace(/\{(\w+)\}/g, (_, option: string) => options[option] ?? "");
}
