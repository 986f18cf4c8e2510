/**
 * The schema of `turnpike.yaml`: every section, its defaults, units in the names. Objects are closed: an unknown key stops the
 * start. Secrets are written as `${NAME}` (environment), `${file:PATH}` or `${credential:NAME}`.
 */

import Type, { type Static } from "typebox";
import { closed } from "../schema/closed.ts";
import { ImagesSchema } from "./images-schema.ts";
import { ModelEntrySchema } from "./model-schema.ts";
import { AlertsSchema, LogSchema, MetricsSchema, TracesSchema } from "./observability-schema.ts";
import { PROVIDER_NAMES } from "./providers.ts";
import { RpcSchema, type RpcUpstreamSchema } from "./rpc-schema.ts";
import {
	ADDRESS_VIEW,
	AMOUNT,
	CREDIT,
	EVM_ADDRESS,
	HEADER_NAME,
	HEADER_VALUE,
	HTTP_ADDRESS,
	headers,
	health,
	LEAST_USD,
	maxConcurrent,
	ms,
	named,
	PATH_BELOW,
	PLAIN_TEXT,
	POSTGRES_ADDRESS,
	price,
	section,
	text,
} from "./schema-types.ts";
import { WebSchema } from "./web-schema.ts";
import { X402Schema } from "./x402-schema.ts";

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

const AttestationSchema = closed(
	{
		report: Type.String({
			pattern: PATH_BELOW,
			default: "attestation/report",
			description: "Below url: asked with model, nonce and signing_algo",
		}),
		signature: Type.String({
			pattern: PATH_BELOW,
			default: "signature/{id}",
			description: "Below url: {id} is the completion's id; asked with model and signing_algo",
		}),
		sealed: Type.Boolean({ default: true, description: "Takes conversations that are sealed for the attested key" }),
		clientKeyHeader: Type.String({ pattern: HEADER_NAME, default: "x-client-pub-key" }),
		modelKeyHeader: Type.String({ pattern: HEADER_NAME, default: "x-model-pub-key" }),
		algorithmHeader: Type.String({ pattern: HEADER_NAME, default: "x-signing-algo" }),
	},
	"Of servers in an enclave: where they prove it; left out: it proves nothing",
);

const DIALECTS = ["generic", "openai", "openrouter", "vllm", "llama.cpp", "ollama", "lmstudio"] as const;

const UpstreamSchema = section({
	url: Type.Optional(
		Type.String({ pattern: HTTP_ADDRESS, description: "Base address up to and including /v1; with a provider: its own" }),
	),
	provider: Type.Optional(
		Type.Enum([...PROVIDER_NAMES], { description: "Spoken to in its own protocol; left out: OpenAI's, at url" }),
	),
	key: Type.Optional(
		Type.String({
			pattern: HEADER_VALUE,
			minLength: 1,
			description: "Sent as Authorization: Bearer; a provider's API key as it wants it",
		}),
	),
	options: Type.Optional(
		named(Type.String({ minLength: 1 }), { description: "What a provider needs beside a key, like region" }),
	),
	headers: headers(),
	dialect: Type.Enum([...DIALECTS], { default: "generic" }),
	discover: Type.Boolean({ default: true, description: "List the models that GET /models of this upstream names" }),
	attestation: Type.Optional(AttestationSchema),
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

export const ConfigSchema = closed({
	server: section({
		host: Type.String({ minLength: 1, default: "127.0.0.1", description: "Address to listen on" }),
		port: Type.Integer({ minimum: 0, maximum: 65_535, default: 8787, description: "0 takes a free one" }),
		publicUrl: Type.Optional(
			Type.String({ pattern: HTTP_ADDRESS, description: "The address that callers use; shown in documents" }),
		),
		trustedProxies: Type.Array(Type.String({ minLength: 1 }), { default: [], description: "Addresses or CIDR ranges" }),
		clientAddressHeader: Type.String({
			pattern: HEADER_NAME,
			default: "X-Forwarded-For",
			description:
				"The one header in which trusted proxies say who calls; it must be set by each of them, others are ignored. Forwarded is read by RFC 7239",
		}),
		corsOrigins: Type.Array(Type.String({ minLength: 1 }), {
			default: ["*"],
			description: "Origins that browsers may call from; * is all",
		}),
		drainMs: ms(30_000, "How long running requests may take to finish at SIGTERM"),
		maxRunning: Type.Integer({
			minimum: 1,
			default: 10_000,
			description: "Requests under way at once; each account has a share",
		}),
		maxBodyBytesInFlight: Type.Integer({
			minimum: 1_048_576,
			default: 536_870_912,
			description: "Bytes of all bodies over 64 KiB together that may be in memory; each account has a share",
		}),
		idleTimeoutSeconds: Type.Integer({
			minimum: 0,
			maximum: 255,
			default: 120,
			description: "Silence after which a connection is closed; more than that of a balancer in front. 0: never",
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
			pattern: CREDIT,
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
	log: LogSchema,
	metrics: MetricsSchema,
	traces: TracesSchema,
	alerts: AlertsSchema,
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
		imageRequestsPerMinute: Type.Integer({ minimum: 1, default: 20, description: "Images, for each model" }),
		imagePartnerRequestsPerMinute: Type.Integer({ minimum: 1, default: 60, description: "The same for partner and staff" }),
		embeddingRequestsPerMinute: Type.Integer({ minimum: 1, default: 500, description: "Embeddings, for each model" }),
		augmentRequestsPerMinute: Type.Integer({
			minimum: 1,
			default: 60,
			description: "Reading files, reading pages, searching: each, for each account",
		}),
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
		embeddingsMs: ms(120_000, "Embeddings, all tries together"),
		transcriptionMs: ms(300_000, "Transcriptions, all tries together"),
		imageMs: ms(300_000, "Images, all tries together"),
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
			parallel: Type.Integer({
				minimum: 1,
				maximum: 16,
				default: 2,
				description: "Answers at once; one more for an account that has none under way",
			}),
			queue: Type.Integer({ minimum: 0, default: 32, description: "Requests that may wait; past it 429" }),
			maxMemoryMb: Type.Integer({ minimum: 256, default: 2048, description: "Above it the engine's process is ended" }),
			idleStopMs: ms(600_000, "The engine's process ends after this long without a request"),
		}),
	}),
	speech: section({
		embedded: section({
			enabled: Type.Boolean({ default: true, description: "The built-in voices" }),
			threads: Type.Optional(Type.Integer({ minimum: 1, description: "Default: one less than the cores" })),
			queue: Type.Integer({ minimum: 0, default: 128, description: "Requests that may wait; past it 429" }),
			maxMemoryMb: Type.Integer({ minimum: 256, default: 1024, description: "Above it the engine's process is ended" }),
			idleStopMs: ms(600_000, "The engine's process ends after this long without a request"),
		}),
	}),
	embeddings: section({
		embedded: section({
			enabled: Type.Boolean({ default: true, description: "The built-in embedding model" }),
			threads: Type.Optional(Type.Integer({ minimum: 1, description: "Default: one less than the cores" })),
			queue: Type.Integer({ minimum: 0, default: 128, description: "Requests that may wait; past it 429" }),
			maxMemoryMb: Type.Integer({ minimum: 256, default: 512, description: "Above it the engine's process is ended" }),
			idleStopMs: ms(600_000, "The engine's process ends after this long without a request"),
		}),
	}),
	images: ImagesSchema,
	documents: section({
		pricePerFileUsd: price({ maximum: 1_000, least: LEAST_USD, default: 0.01, description: "USD for a file that gave a text" }),
		processes: Type.Integer({ minimum: 1, maximum: 64, default: 2, description: "Files that are read at once; others wait" }),
		fileMs: ms(30_000, "Processor time that reading one file may take"),
		maxMemoryMb: Type.Integer({ minimum: 256, default: 1024, description: "Above it the reading of a file is ended" }),
	}),
	web: WebSchema,
	costs: named(price({ maximum: 1_000_000, least: LEAST_USD }), {
		pattern: "^[a-z0-9][a-zA-Z0-9._:/-]{0,255}$",
		names: "a sku of a statement, like search-request",
		default: {},
		description: "What a unit of a sku costs you, in USD: for what is no model, and in the place of a model's cost",
	}),
	upstreams: named(UpstreamSchema, {
		pattern: "^[a-z0-9][a-z0-9_-]{0,63}$",
		names: "a name of up to 64 lower-case letters, digits, - and _ that starts with a letter or a digit",
		default: {},
	}),
	rpc: RpcSchema,
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

/** The configuration as it is given, defaults filled in. */
export type ConfigInput = Static<typeof ConfigSchema>;
/** An upstream with its address: the provider's own if none is given. */
export type UpstreamConfig = Static<typeof UpstreamSchema> & { url: string };
/** The whole configuration: validated and complete. */
export type Config = Omit<ConfigInput, "upstreams"> & { upstreams: Record<string, UpstreamConfig> };
export type RpcConfig = Config["rpc"];
export type RpcUpstreamConfig = Static<typeof RpcUpstreamSchema>;
export type ModelEntry = Static<typeof ModelEntrySchema>;
export type TierConfig = Static<typeof TierSchema>;
export type StakingConfig = Config["staking"];
export type X402Config = Config["x402"];
