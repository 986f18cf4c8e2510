/**
 * The one schema of `turnpike.yaml`: every section, its defaults, units in the names. Closed objects: an
 * unknown key stops the start. Secrets are written as `${NAME}` and come from the environment.
 */
import Type, { type Static } from "typebox";
import {
	ADDRESS_VIEW,
	AMOUNT,
	closed,
	EVM_ADDRESS,
	HEADER_VALUE,
	HTTP_ADDRESS,
	headers,
	ms,
	named,
	PLAIN_TEXT,
	POSTGRES_ADDRESS,
	section,
	text,
} from "./schema-parts.ts";
import { X402Schema } from "./x402-schema.ts";

const usdPrice = () => Type.Number({ minimum: 0, maximum: 1_000_000, description: "USD per million tokens" });

const RateLimitSchema = closed({
	requestsPerMinute: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }),
	tokensPerMinute: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000_000 })),
});

const TierSchema = section({
	requestsPerMinute: Type.Integer({ minimum: 1 }),
	tokensPerMinute: Type.Integer({ minimum: 1 }),
	partnerRequestsPerMinute: Type.Optional(Type.Integer({ minimum: 1 })),
	partnerTokensPerMinute: Type.Optional(Type.Integer({ minimum: 1 })),
});

export const DIALECTS = ["generic", "openai", "openrouter", "vllm", "llama.cpp", "ollama", "lmstudio"] as const;

const maxConcurrent = () => Type.Optional(Type.Integer({ minimum: 1, description: "Requests at once" }));
const health = () =>
	section({
		failures: Type.Integer({ minimum: 1, default: 3, description: "Consecutive faults that eject" }),
		probeEveryMs: ms(5_000, "How often an ejected upstream is probed"),
	});

const UpstreamSchema = section({
	url: Type.String({ pattern: HTTP_ADDRESS, description: "Base address up to and including /v1" }),
	key: Type.Optional(Type.String({ pattern: HEADER_VALUE, minLength: 1, description: "Sent as Authorization: Bearer" })),
	headers: headers(),
	dialect: Type.Enum([...DIALECTS], { default: "generic" }),
	discover: Type.Boolean({ default: true, description: "List the models that GET /models of this upstream names" }),
	maxConcurrent: maxConcurrent(),
	priceMultiplier: Type.Optional(
		Type.Number({
			exclusiveMinimum: 0,
			maximum: 1_000,
			description: "A model with a cost and no price is sold at its cost times this; left out: at cost",
		}),
	),
	firstByteMs: Type.Optional(Type.Integer({ minimum: 1, description: "Instead of timeouts.chatFirstByteMs" })),
	idleMs: Type.Optional(Type.Integer({ minimum: 1, description: "Instead of timeouts.chatIdleMs" })),
	unaryMs: Type.Optional(Type.Integer({ minimum: 1, description: "Instead of timeouts.chatUnaryMs" })),
	health: health(),
});

/** What an upstream of a chain can do beyond what every node can. */
export const RPC_CAPABILITIES = ["archive", "trace", "debug", "txpool", "bundler"] as const;

const RpcUpstreamSchema = section({
	name: Type.Optional(Type.String({ pattern: PLAIN_TEXT, minLength: 1, maxLength: 64, description: "Default: its host" })),
	url: Type.String({ pattern: HTTP_ADDRESS, description: "Where JSON-RPC is posted to" }),
	headers: headers(),
	order: Type.Integer({ default: 0, description: "Lower goes first" }),
	weight: Type.Number({ exclusiveMinimum: 0, default: 1, description: "Share among upstreams of the same order" }),
	capabilities: Type.Optional(
		Type.Array(Type.Enum([...RPC_CAPABILITIES]), {
			description: "What it can: archive, trace, debug, txpool, bundler; left out: it is found out by asking",
		}),
	),
	maxConcurrent: maxConcurrent(),
	health: health(),
});

const RpcNetworkSchema = section({
	enabled: Type.Optional(
		Type.Boolean({
			description: "false: the network is not there. Left out: it is, optional networks where they have an upstream",
		}),
	),
	upstreams: Type.Array(RpcUpstreamSchema, { default: [] }),
});

const RpcLimitsSchema = (requestsPerMinute: number, creditsPerDay: number) =>
	section({
		requestsPerMinute: Type.Integer({ minimum: 1, maximum: 1_000_000_000, default: requestsPerMinute }),
		creditsPerDay: Type.Integer({
			minimum: 1,
			maximum: 1_000_000_000_000,
			default: creditsPerDay,
			description: "Credits in any 24 hours",
		}),
	});

/**
 * How a sample goes with a request: `ref_audio`, a data URL in that member of the JSON body (vLLM-Omni); `voice_file`, a
 * form with that file at audio/speech/upload (Chatterbox servers).
 */
export const CLONING_FORMS = ["ref_audio", "voice_file"] as const;

const TargetSchema = closed({
	upstream: Type.String({ minLength: 1 }),
	model: Type.Optional(
		Type.String({ pattern: PLAIN_TEXT, minLength: 1, description: "The upstream's own name; default: the model's id" }),
	),
	weight: Type.Number({ exclusiveMinimum: 0, default: 1, description: "Share among targets of the same order" }),
	order: Type.Integer({ default: 0, description: "Lower goes first" }),
	voices: Type.Optional(
		named(text(), { description: "tts: the model's voice -> the upstream's name for it; others go as they are" }),
	),
	formats: Type.Optional(
		Type.Array(Type.Enum(["mp3", "opus", "aac", "flac", "wav", "pcm"]), {
			minItems: 1,
			description: "tts: what the upstream makes; the rest is made here from the first of them. Left out: all six",
		}),
	),
	protocol: Type.Optional(
		Type.Enum(["openai", "elevenlabs"], { description: "tts: what the upstream speaks; left out: openai" }),
	),
	cloning: Type.Optional(
		Type.Enum([...CLONING_FORMS], {
			description: "tts: how the upstream takes the sample of a cloned voice; left out: it clones none",
		}),
	),
});

const EffortSchema = Type.Enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]);

const CapabilitiesSchema = closed({
	optimizedForCode: Type.Optional(Type.Boolean()),
	quantization: Type.Optional(Type.Enum(["fp4", "fp8", "fp16", "bf16", "int8", "int4", "not-available"])),
	supportsAudioInput: Type.Optional(Type.Boolean()),
	supportsFunctionCalling: Type.Optional(Type.Boolean()),
	supportsLogProbs: Type.Optional(Type.Boolean()),
	supportsMultipleImages: Type.Optional(Type.Boolean()),
	supportsReasoning: Type.Optional(Type.Boolean()),
	supportsReasoningEffort: Type.Optional(Type.Boolean()),
	supportsResponseSchema: Type.Optional(Type.Boolean()),
	supportsTeeAttestation: Type.Optional(Type.Boolean()),
	supportsE2EE: Type.Optional(Type.Boolean()),
	supportsVision: Type.Optional(Type.Boolean()),
	supportsVideoInput: Type.Optional(Type.Boolean()),
	supportsWebSearch: Type.Optional(Type.Boolean()),
	supportsXSearch: Type.Optional(Type.Boolean()),
	reasoningEffortOptions: Type.Optional(Type.Array(EffortSchema)),
	defaultReasoningEffort: Type.Optional(EffortSchema),
	maxImages: Type.Optional(Type.Integer({ minimum: 1 })),
	maxVideos: Type.Optional(Type.Integer({ minimum: 1 })),
});

const TextPriceSchema = closed({
	input: usdPrice(),
	output: usdPrice(),
	cacheInput: Type.Optional(usdPrice()),
	cacheWrite: Type.Optional(usdPrice()),
	extended: Type.Optional(
		closed({
			contextTokenThreshold: Type.Integer({ minimum: 1 }),
			input: usdPrice(),
			output: usdPrice(),
			cacheInput: Type.Optional(usdPrice()),
			cacheWrite: Type.Optional(usdPrice()),
		}),
	),
});

/** What a speech model says; for one that the catalog knows, what differs. */
const SpeechSchema = closed({
	voices: Type.Optional(Type.Array(text(), { minItems: 1, uniqueItems: true })),
	defaultVoice: Type.Optional(Type.String({ pattern: PLAIN_TEXT, description: "Default: the first of voices" })),
	perMillionCharacters: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000, description: "Price in USD" })),
	prompt: Type.Optional(Type.Boolean({ description: "true: prompt goes to the upstream, as instructions" })),
	temperature: Type.Optional(Type.Boolean({ description: "true: temperature goes to the upstream" })),
	topP: Type.Optional(Type.Boolean({ description: "true: top_p goes to the upstream" })),
});

const TranscriptionSchema = closed({
	perAudioSecond: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000, description: "Price in USD" })),
	timestamps: Type.Optional(Type.Enum(["word", "segment", "none"], { description: "What timestamps: true gives" })),
});

const InstantSchema = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,3})?Z$" });

/** A model as an operator writes it: overrides the catalog's entry of the same id, or adds one. */
const ModelEntrySchema = section({
	type: Type.Optional(Type.Enum(["asr", "embedding", "image", "music", "text", "tts", "upscale", "inpaint", "video"])),
	name: Type.Optional(text()),
	description: Type.Optional(Type.String()),
	modelSource: Type.Optional(Type.String()),
	created: Type.Optional(Type.Integer({ minimum: 0 })),
	privacy: Type.Optional(Type.Enum(["private", "anonymized"])),
	offline: Type.Optional(Type.Boolean()),
	hidden: Type.Optional(Type.Boolean({ description: "true removes the model from this service" })),
	upstreams: Type.Optional(Type.Array(TargetSchema)),
	price: Type.Optional(TextPriceSchema),
	cost: Type.Optional(closed({ input: usdPrice(), output: usdPrice() }, "What the upstream takes for it: shown in exports")),
	contextTokens: Type.Optional(Type.Integer({ minimum: 1 })),
	maxCompletionTokens: Type.Optional(Type.Integer({ minimum: 1 })),
	tier: Type.Optional(Type.String({ minLength: 1, description: "A name under limits.tiers" })),
	traits: Type.Optional(Type.Array(text())),
	capabilities: Type.Optional(CapabilitiesSchema),
	speech: Type.Optional(SpeechSchema),
	transcription: Type.Optional(TranscriptionSchema),
	temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2, description: "Shown as the default, never sent" })),
	topP: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: "Shown as the default, never sent" })),
	deprecation: Type.Optional(
		closed({
			autoRemap: Type.Boolean(),
			date: InstantSchema,
			removesAt: InstantSchema,
			startsAt: Type.Optional(InstantSchema),
			replacementModelId: Type.Optional(Type.String()),
		}),
	),
});

export const ConfigSchema = closed({
	server: section({
		host: Type.String({ minLength: 1, default: "127.0.0.1", description: "Address to listen on" }),
		port: Type.Integer({ minimum: 0, maximum: 65_535, default: 8787, description: "0 takes a free one" }),
		publicUrl: Type.Optional(
			Type.String({ pattern: HTTP_ADDRESS, description: "The address that callers use; shown in documents" }),
		),
		trustedProxies: Type.Array(Type.String({ minLength: 1 }), { default: [], description: "Addresses or CIDR ranges" }),
		corsOrigins: Type.Array(Type.String({ minLength: 1 }), {
			default: ["*"],
			description: "Origins that browsers may call from; * is all",
		}),
		drainMs: ms(30_000, "How long running requests may take to finish at SIGTERM"),
		maxRunning: Type.Integer({ minimum: 1, default: 10_000, description: "Requests under way at once" }),
		maxBodyBytesInFlight: Type.Integer({
			minimum: 1_048_576,
			default: 536_870_912,
			description: "Bytes of all bodies over 1 MiB together that may be in memory",
		}),
		uploadSilenceMs: ms(20_000, "Silence that ends an upload with 408"),
		uploadTotalMs: ms(300_000, "Longest upload"),
	}),
	data: Type.String({ minLength: 1, default: "./turnpike-data", description: "Data folder: books, journal, assets" }),
	store: Type.Optional(
		Type.String({
			pattern: POSTGRES_ADDRESS,
			description:
				"PostgreSQL that several nodes share, postgres://user:password@host/database; left out: SQLite in the data folder",
		}),
	),
	node: section({
		termMs: Type.Integer({
			minimum: 3_000,
			maximum: 600_000,
			default: 30_000,
			description: "PostgreSQL: how long this node's leases live after its last heartbeat; the same on all nodes",
		}),
	}),
	accounts: section({
		startingCreditUsd: Type.String({
			pattern: "^\\d{1,7}(\\.\\d{1,9})?$",
			default: "10",
			description: "Credit of the first account",
		}),
	}),
	journal: section({
		durability: Type.Optional(
			Type.Enum(["process", "power", "store"], { description: "What an answer waits for; SQLite: process, PostgreSQL: store" }),
		),
		segmentMb: Type.Integer({ minimum: 1, maximum: 64, default: 16, description: "Size of a journal file" }),
		minFreeDiskMb: Type.Integer({ minimum: 0, default: 200, description: "Below it new requests get 503" }),
		maxBacklogMb: Type.Integer({
			minimum: 1,
			default: 256,
			description: "Journal not yet in the store; above it new requests get 503",
		}),
	}),
	staking: section({
		token: Type.String({ pattern: PLAIN_TEXT, minLength: 1, default: "diem", description: "What is staked, as callers read it" }),
		chain: section({
			name: Type.String({ pattern: PLAIN_TEXT, minLength: 1, default: "Base", description: "As callers read it" }),
			id: Type.Integer({ minimum: 1, default: 8453, description: "What eth_chainId answers" }),
			rpcUrl: Type.Optional(
				Type.String({
					pattern: HTTP_ADDRESS,
					description: "JSON-RPC of the chain; left out: stakes are what accounts set --stake-diem says",
				}),
			),
			timeoutMs: ms(10_000, "Each call"),
		}),
		contract: Type.Optional(Type.String({ pattern: EVM_ADDRESS, description: "Where stakes lie; with chain.rpcUrl" })),
		view: Type.String({
			pattern: ADDRESS_VIEW,
			default: "balanceOf(address)",
			description: "Takes a wallet; the first word of its answer is the stake, in the token's smallest unit",
		}),
		decimals: Type.Integer({ minimum: 0, maximum: 77, default: 18, description: "Of the token" }),
		diemPerToken: Type.String({ pattern: AMOUNT, default: "1", description: "Diem a day for one whole token" }),
		confirmations: Type.Integer({
			minimum: 0,
			maximum: 100_000,
			default: 64,
			description: "Blocks on top of a day's first block before it is read",
		}),
		multicall: Type.String({
			pattern: EVM_ADDRESS,
			default: "0xcA11bde05977b3631167028862bE2a173976CA11",
			description: "Multicall3; where the chain has none there, wallets are read one by one",
		}),
	}),
	siwx: section({
		singleUse: Type.Boolean({
			default: false,
			description: "true: each sign-in of a wallet serves one request, on all nodes; false: any number until it expires",
		}),
		rpcUrl: Type.Optional(
			Type.String({
				pattern: HTTP_ADDRESS,
				description:
					"JSON-RPC of Base, for wallets that are contracts; left out: the first upstream of rpc.networks.base-mainnet, else staking.chain where that is Base",
			}),
		),
		timeoutMs: ms(5_000, "Each call to that node"),
		contractsPerMinute: Type.Integer({
			minimum: 1,
			default: 30,
			description: "Sign-ins that the node has to be asked about, for each address",
		}),
	}),
	x402: X402Schema,
	retention: section({
		folder: Type.Optional(
			Type.String({ minLength: 1, description: "Where archives of old months go; left out: archive in the data folder" }),
		),
		journalMonths: Type.Optional(
			Type.Integer({
				minimum: 1,
				maximum: 1_200,
				description: "Whole months of single charges that stay in the store; older ones are archived. Left out: all stay",
			}),
		),
		usageMonths: Type.Optional(
			Type.Integer({
				minimum: 4,
				maximum: 1_200,
				description: "Whole months of usage by day that stay; of older ones the sums stay. Left out: all stay",
			}),
		),
		requestDays: Type.Integer({
			minimum: 1,
			maximum: 36_500,
			default: 30,
			description: "How long a request is shown by its id, and in the log of refused ones",
		}),
	}),
	log: section({
		level: Type.Enum(["trace", "debug", "info", "warn", "error", "silent"], {
			default: "info",
			description: "JSON lines on standard error",
		}),
	}),
	metrics: section({
		token: Type.Optional(
			Type.String({
				pattern: HEADER_VALUE,
				minLength: 16,
				description: "GET /metrics asks for it as a Bearer token; left out: it answers this machine alone",
			}),
		),
	}),
	limits: section({
		default: Type.Object(RateLimitSchema.properties, {
			additionalProperties: false,
			default: { requestsPerMinute: 100_000, tokensPerMinute: 1_000_000_000 },
		}),
		tiers: named(TierSchema, {
			default: {
				XS: { requestsPerMinute: 500, tokensPerMinute: 1_000_000, partnerTokensPerMinute: 2_000_000 },
				S: { requestsPerMinute: 75, tokensPerMinute: 750_000, partnerRequestsPerMinute: 150, partnerTokensPerMinute: 1_500_000 },
				M: { requestsPerMinute: 50, tokensPerMinute: 750_000, partnerRequestsPerMinute: 100, partnerTokensPerMinute: 1_500_000 },
				L: { requestsPerMinute: 20, tokensPerMinute: 500_000, partnerRequestsPerMinute: 60, partnerTokensPerMinute: 1_000_000 },
			},
		}),
		listRequestsPerMinute: Type.Integer({
			minimum: 1,
			default: 300,
			description: "Lists of models, characters and keys, for each account; without a credential, for each address",
		}),
		keyCreationsPerMinute: Type.Integer({ minimum: 1, default: 20, description: "New API keys, for each account" }),
		web3KeysPerMinute: Type.Integer({
			minimum: 1,
			default: 20,
			description: "Requests for keys by wallets, tokens for them included, for each address",
		}),
		topUpsPerMinute: Type.Integer({
			minimum: 1,
			default: 20,
			description: "POST /x402/top-up, and payments on other routes, for each address",
		}),
		walletReadsPerMinute: Type.Integer({ minimum: 1, default: 60, description: "Balance and history of a wallet, each" }),
		failedRequests: Type.Integer({ minimum: 0, default: 20, description: "Failures within 30 s that block for 30 s; 0 is off" }),
		audioRequestsPerMinute: Type.Integer({ minimum: 1, default: 60, description: "Speech and transcriptions, for each model" }),
		audioPartnerRequestsPerMinute: Type.Integer({ minimum: 1, default: 120, description: "The same for partner and staff" }),
		augmentRequestsPerMinute: Type.Integer({ minimum: 1, default: 60, description: "Reading files, for each account" }),
		voicesPerAccount: Type.Integer({ minimum: 1, maximum: 10_000, default: 50, description: "Cloned voices at once" }),
		maxCompletionTokens: Type.Integer({
			minimum: 1,
			default: 8192,
			description: "Output maximum of a priced model that names none",
		}),
	}),
	stream: section({
		earlyHeadersMs: ms(15_000, "Waiting after which a stream's 200 goes out without a first event"),
		pingMs: ms(10_000, "Silence after which a stream gets a comment line"),
	}),
	timeouts: section({
		chatFirstByteMs: ms(120_000, "Streams, each try"),
		chatIdleMs: ms(120_000, "Silence inside a stream"),
		chatUnaryMs: ms(600_000, "Unary, all tries"),
		chatStreamTriesMs: ms(240_000, "Streams, all tries together"),
		speechMs: ms(120_000, "Speech: all tries until its first byte, then each silence"),
		transcriptionMs: ms(300_000, "Transcriptions, all tries together"),
		rpcMs: ms(30_000, "JSON-RPC, all tries together"),
		rpcSlowMs: ms(120_000, "JSON-RPC with a method that traces or debugs"),
		facilitatorMs: ms(60_000, "Verifying a payment, and settling it"),
	}),
	chat: section({
		systemPrompt: Type.String({ default: "", description: "Goes before the messages, unless the caller switches it off" }),
		embedded: section({
			enabled: Type.Boolean({ default: true, description: "The built-in chat model" }),
			threads: Type.Optional(Type.Integer({ minimum: 1, description: "Default: one less than the cores" })),
			contextTokens: Type.Integer({ minimum: 512, default: 4096, description: "Of each sequence" }),
			parallel: Type.Integer({ minimum: 1, maximum: 16, default: 2, description: "Answers at once" }),
			queue: Type.Integer({ minimum: 0, default: 16, description: "Requests that may wait; past it 429" }),
			maxMemoryMb: Type.Integer({ minimum: 256, default: 2048, description: "Above it the engine's process is ended" }),
			idleStopMs: ms(600_000, "The engine's process ends after this long without a request"),
		}),
	}),
	speech: section({
		embedded: section({
			enabled: Type.Boolean({ default: true, description: "The built-in voices" }),
			threads: Type.Optional(Type.Integer({ minimum: 1, description: "Default: one less than the cores" })),
			queue: Type.Integer({ minimum: 0, default: 64, description: "Requests that may wait; past it 429" }),
			maxMemoryMb: Type.Integer({ minimum: 256, default: 1024, description: "Above it the engine's process is ended" }),
			idleStopMs: ms(600_000, "The engine's process ends after this long without a request"),
		}),
	}),
	documents: section({
		pricePerFileUsd: Type.Number({ minimum: 0, maximum: 1_000, default: 0.01, description: "USD for a file that gave a text" }),
		processes: Type.Integer({ minimum: 1, maximum: 64, default: 2, description: "Files that are read at once; others wait" }),
		fileMs: ms(30_000, "Reading one file"),
		maxMemoryMb: Type.Integer({ minimum: 256, default: 1024, description: "Above it the reading of a file is ended" }),
	}),
	upstreams: named(UpstreamSchema, {
		pattern: "^[a-z0-9][a-z0-9_-]{0,63}$",
		names: "a name of up to 64 lower-case letters, digits, - and _ that starts with a letter or a digit",
		default: {},
	}),
	rpc: section({
		networks: named(RpcNetworkSchema, {
			pattern: "^[a-z0-9]+(-[a-z0-9]+)*$",
			names: "a network as GET /crypto/rpc/networks writes it, like ethereum-mainnet",
			default: {},
		}),
		public: Type.Boolean({
			default: false,
			description: "true: a network without an upstream uses public endpoints, which see every call",
		}),
		pricePerCreditUsd: Type.Number({
			minimum: 0,
			maximum: 1,
			default: 0.000000625,
			description: "In whole billionths of a USD",
		}),
		limits: section({
			paid: RpcLimitsSchema(100, 10_000_000),
			staff: RpcLimitsSchema(1_000, 100_000_000),
		}),
		hedgePercent: Type.Number({
			minimum: 0,
			maximum: 100,
			default: 10,
			description: "Reads of 100 that may be asked of a second upstream when the first is slow; 0 is off",
		}),
		cacheMb: Type.Integer({
			minimum: 0,
			maximum: 65_536,
			default: 64,
			description: "Memory for answers that stay true; 0 is off",
		}),
		sendsKeptDays: Type.Integer({
			minimum: 1,
			maximum: 36_500,
			default: 400,
			description: "How long the record of sends is kept",
		}),
	}),
	models: section({
		public: Type.Boolean({ default: false, description: "true: the model lists need no credential" }),
		entries: named(ModelEntrySchema, { names: "a model id without control characters", default: {} }),
		traits: named(named(text()), {
			default: {},
			description: "type -> trait -> model id",
		}),
		mappings: named(named(text()), {
			default: {},
			description: "type -> foreign name -> model id",
		}),
		discoverEveryMs: ms(30_000, "How often an upstream that was down is asked again"),
	}),
	characters: Type.Optional(Type.String({ description: "A JSON file of characters in place of the built-in ones" })),
});

/** The whole configuration, defaults filled in. */
export type Config = Static<typeof ConfigSchema>;
export type UpstreamConfig = Static<typeof UpstreamSchema>;
export type RpcConfig = Config["rpc"];
export type RpcUpstreamConfig = Static<typeof RpcUpstreamSchema>;
export type ModelEntry = Static<typeof ModelEntrySchema>;
export type TierConfig = Static<typeof TierSchema>;
export type StakingConfig = Config["staking"];
export type X402Config = Config["x402"];
