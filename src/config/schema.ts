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
			description: "Path below url, called with model, nonce and signing_algo",
		}),
		signature: Type.String({
			pattern: PATH_BELOW,
			default: "signature/{id}",
			description: "Path below url, called with model and signing_algo; {id} is the completion's id",
		}),
		sealed: Type.Boolean({ default: true, description: "Accepts conversations that are sealed for the attested key" }),
		clientKeyHeader: Type.String({ pattern: HEADER_NAME, default: "x-client-pub-key" }),
		modelKeyHeader: Type.String({ pattern: HEADER_NAME, default: "x-model-pub-key" }),
		algorithmHeader: Type.String({ pattern: HEADER_NAME, default: "x-signing-algo" }),
	},
	"For a server in an enclave: where it serves its proof. If unset, the upstream proves nothing",
);

const DIALECTS = ["generic", "openai", "openrouter", "vllm", "llama.cpp", "ollama", "lmstudio"] as const;

const UpstreamSchema = section({
	url: Type.Optional(
		Type.String({
			pattern: HTTP_ADDRESS,
			description: "Base address up to and including /v1. With a provider, its own address by default",
		}),
	),
	provider: Type.Optional(
		Type.Enum([...PROVIDER_NAMES], {
			description: "The provider whose own protocol is used. If unset: OpenAI's protocol, at url",
		}),
	),
	key: Type.Optional(
		Type.String({
			pattern: HEADER_VALUE,
			minLength: 1,
			description: "Sent as Authorization: Bearer. With a provider: its API key, sent in the provider's way",
		}),
	),
	options: Type.Optional(
		named(Type.String({ minLength: 1 }), { description: "Options that a provider needs besides a key, like region" }),
	),
	headers: headers(),
	dialect: Type.Enum([...DIALECTS], { default: "generic" }),
	discover: Type.Boolean({ default: true, description: "Lists the models of this upstream's GET /models" }),
	attestation: Type.Optional(AttestationSchema),
	maxConcurrent: maxConcurrent(),
	priceMultiplier: Type.Optional(
		Type.Number({
			exclusiveMinimum: 0,
			maximum: 1_000,
			description: "A model with a cost and no price is sold at its cost times this factor. If unset: at its cost",
		}),
	),
	firstByteMs: Type.Optional(Type.Integer({ minimum: 1, description: "Replaces timeouts.chatFirstByteMs" })),
	idleMs: Type.Optional(Type.Integer({ minimum: 1, description: "Replaces timeouts.chatIdleMs" })),
	unaryMs: Type.Optional(Type.Integer({ minimum: 1, description: "Replaces timeouts.chatUnaryMs" })),
	health: health(),
});

/** Patterns of all skus that are charged (src/budgets/sku.ts). */
const SKUS = [
	"(?:search|chat-web-search)-request",
	"scrape-page",
	"chat-web-page",
	"chat-x-search-result",
	"text-parser-file",
	"crypto-rpc-[a-z0-9-]+-credit",
	".+-llm-(?:input|cache-input|cache-write|output)-mtoken",
	".+-image-unit",
	".+-tts-mcharacter",
	".+-asr-second",
];

export const ConfigSchema = closed({
	server: section({
		host: Type.String({ minLength: 1, default: "127.0.0.1", description: "Address to listen on" }),
		port: Type.Integer({ minimum: 0, maximum: 65_535, default: 8787, description: "Port to listen on; 0 chooses a free one" }),
		publicUrl: Type.Optional(
			Type.String({
				pattern: HTTP_ADDRESS,
				description: "The address that callers use. The API's documents show it, and wallets sign in for it",
			}),
		),
		trustedProxies: Type.Array(Type.String({ minLength: 1 }), {
			default: [],
			description: "Addresses or CIDR ranges of the proxies in front",
		}),
		clientAddressHeader: Type.String({
			pattern: HEADER_NAME,
			default: "X-Forwarded-For",
			description:
				"The only header from which the caller's address is read. Every trusted proxy must set it. Forwarded is read by RFC 7239",
		}),
		corsOrigins: Type.Array(Type.String({ minLength: 1 }), {
			default: ["*"],
			description: "Origins from which browsers may call; * allows all",
		}),
		drainMs: ms(30_000, "How long running requests may take to finish after SIGTERM"),
		maxRunning: Type.Integer({
			minimum: 1,
			default: 10_000,
			description: "Maximum number of running requests; each account has a share",
		}),
		maxBodyBytesInFlight: Type.Integer({
			minimum: 1_048_576,
			default: 536_870_912,
			description: "Maximum bytes in memory of all bodies over 64 KiB together; each account has a share",
		}),
		idleTimeoutSeconds: Type.Integer({
			minimum: 0,
			maximum: 255,
			default: 120,
			description: "Idle time after which a connection is closed. Set it above that of a load balancer in front. 0: never",
		}),
		uploadSilenceMs: ms(20_000, "Idle time after which an upload is ended with 408"),
		uploadTotalMs: ms(300_000, "Maximum time of an upload"),
	}),
	data: Type.String({ minLength: 1, default: "./turnpike-data", description: "Data folder: books, journal, assets" }),
	store: Type.Optional(
		Type.String({
			pattern: POSTGRES_ADDRESS,
			description:
				"PostgreSQL that several nodes share, postgres://user:password@host/database; with standbys, host1:5432,host2:5432. If unset: SQLite in the data folder",
		}),
	),
	node: section({
		termMs: Type.Integer({
			minimum: 3_000,
			maximum: 600_000,
			default: 30_000,
			description: "PostgreSQL: how long this node's leases live after its last heartbeat. Must be the same on all nodes",
		}),
	}),
	workers: Type.Union([Type.Integer({ minimum: 1, maximum: 64 }), Type.Literal("auto")], {
		default: 1,
		description: "Processes that serve on one port, each on one core; auto: one for each core",
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
			Type.Enum(["process", "power", "store"], {
				description: "What an answer waits for. Default with SQLite: process, with PostgreSQL: store",
			}),
		),
		segmentMb: Type.Integer({ minimum: 1, maximum: 64, default: 16, description: "Size of a journal file" }),
		minFreeDiskMb: Type.Integer({ minimum: 0, default: 200, description: "Below this, new requests get 503" }),
		maxBacklogMb: Type.Integer({
			minimum: 1,
			default: 256,
			description: "Size of the journal that is not in the store yet; above this, new requests get 503",
		}),
	}),
	staking: section({
		token: Type.String({
			pattern: PLAIN_TEXT,
			minLength: 1,
			default: "diem",
			description: "Name of the staked token, as shown to callers",
		}),
		chain: section({
			name: Type.String({
				pattern: PLAIN_TEXT,
				minLength: 1,
				default: "Base",
				description: "Name of the chain, as shown to callers",
			}),
			id: Type.Integer({ minimum: 1, default: 8453, description: "Chain id, as eth_chainId returns it" }),
			rpcUrl: Type.Optional(
				Type.String({
					pattern: HTTP_ADDRESS,
					description: "JSON-RPC address of a node of the chain. If unset, accounts set --stake-diem sets the stakes",
				}),
			),
			timeoutMs: ms(10_000, "Time limit of each call"),
		}),
		contract: Type.Optional(
			Type.String({ pattern: EVM_ADDRESS, description: "Contract that holds the stakes; needs chain.rpcUrl" }),
		),
		view: Type.String({
			pattern: ADDRESS_VIEW,
			default: "balanceOf(address)",
			description: "Function that takes a wallet. The first word of its result is the stake, in the token's smallest unit",
		}),
		decimals: Type.Integer({ minimum: 0, maximum: 77, default: 18, description: "Decimals of the token" }),
		diemPerToken: Type.String({ pattern: AMOUNT, default: "1", description: "Diem per day for one whole token" }),
		confirmations: Type.Integer({
			minimum: 0,
			maximum: 100_000,
			default: 64,
			description: "Number of blocks after a day's first block before it is read",
		}),
		multicall: Type.String({
			pattern: EVM_ADDRESS,
			default: "0xcA11bde05977b3631167028862bE2a173976CA11",
			description: "Address of Multicall3. If the chain has none there, wallets are read one by one",
		}),
	}),
	siwx: section({
		singleUse: Type.Boolean({
			default: false,
			description: "true: a wallet's sign-in serves one request, over all nodes; false: any number of requests until it expires",
		}),
		rpcUrl: Type.Optional(
			Type.String({
				pattern: HTTP_ADDRESS,
				description:
					"JSON-RPC address of a Base node, for wallets that are contracts. If unset: the first upstream of rpc.networks.base-mainnet, else staking.chain if it is Base",
			}),
		),
		timeoutMs: ms(5_000, "Time limit of each call to that node"),
		contractsPerMinute: Type.Integer({
			minimum: 1,
			default: 30,
			description: "Sign-ins per address that need a call to the node",
		}),
	}),
	x402: X402Schema,
	retention: section({
		folder: Type.Optional(
			Type.String({ minLength: 1, description: "Folder for archives of old months. If unset: archive in the data folder" }),
		),
		journalMonths: Type.Optional(
			Type.Integer({
				minimum: 1,
				maximum: 1_200,
				description: "Whole months of single charges that stay in the store; older ones are archived. If unset, all stay",
			}),
		),
		usageMonths: Type.Optional(
			Type.Integer({
				minimum: 4,
				maximum: 1_200,
				description: "Whole months of daily usage that stay; of older months only the sums stay. If unset, all stay",
			}),
		),
		requestDays: Type.Integer({
			minimum: 1,
			maximum: 36_500,
			default: 30,
			description: "How many days a request can be looked up by its id, and in the list of refused requests",
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
			description: "Lists of models, characters and keys, per account; without a credential, per address",
		}),
		keyCreationsPerMinute: Type.Integer({ minimum: 1, default: 20, description: "New API keys, per account" }),
		web3KeysPerMinute: Type.Integer({
			minimum: 1,
			default: 20,
			description: "Requests of wallets for keys, and for the tokens of such requests, per address",
		}),
		topUpsPerMinute: Type.Integer({
			minimum: 1,
			default: 20,
			description: "POST /x402/top-up, and payments on other routes, per address",
		}),
		walletReadsPerMinute: Type.Integer({ minimum: 1, default: 60, description: "Balance of a wallet, and its history, each" }),
		failedRequests: Type.Integer({
			minimum: 0,
			default: 20,
			description: "Failed requests that a caller may make within 30 s; more block it for 30 s. 0 turns this off",
		}),
		audioRequestsPerMinute: Type.Integer({ minimum: 1, default: 60, description: "Speech and transcriptions, per model" }),
		audioPartnerRequestsPerMinute: Type.Integer({ minimum: 1, default: 120, description: "The same, for partners and staff" }),
		imageRequestsPerMinute: Type.Integer({ minimum: 1, default: 20, description: "Images, per model" }),
		imagePartnerRequestsPerMinute: Type.Integer({ minimum: 1, default: 60, description: "The same, for partners and staff" }),
		embeddingRequestsPerMinute: Type.Integer({ minimum: 1, default: 500, description: "Embeddings, per model" }),
		augmentRequestsPerMinute: Type.Integer({
			minimum: 1,
			default: 60,
			description: "Reading files, reading pages, and searches: each per account",
		}),
		voicesPerAccount: Type.Integer({
			minimum: 1,
			maximum: 10_000,
			default: 50,
			description: "Maximum number of cloned voices at a time",
		}),
		maxCompletionTokens: Type.Integer({
			minimum: 1,
			default: 8192,
			description: "Output maximum of priced models without one of their own",
		}),
	}),
	stream: section({
		earlyHeadersMs: ms(15_000, "How long a stream's 200 waits for the first event before it is sent anyway"),
		pingMs: ms(10_000, "Silence after which a comment line is sent in a stream"),
	}),
	timeouts: section({
		chatFirstByteMs: ms(120_000, "First byte of a stream, each attempt"),
		chatIdleMs: ms(120_000, "Silence inside a stream"),
		chatUnaryMs: ms(600_000, "A whole answer, all attempts together"),
		chatStreamTriesMs: ms(240_000, "First byte of a stream, all attempts together"),
		speechMs: ms(120_000, "Speech: first byte, all attempts together; after it, each silence"),
		embeddingsMs: ms(120_000, "Embeddings, all attempts together"),
		transcriptionMs: ms(300_000, "Transcriptions, all attempts together"),
		imageMs: ms(300_000, "Images, all attempts together"),
		rpcMs: ms(30_000, "JSON-RPC, all attempts together"),
		rpcSlowMs: ms(120_000, "JSON-RPC methods that trace or debug, all attempts together"),
		facilitatorMs: ms(60_000, "Verification of a payment, and its settlement: each"),
	}),
	chat: section({
		systemPrompt: Type.String({ default: "", description: "Sent before the messages, unless the caller turns it off" }),
		embedded: section({
			enabled: Type.Boolean({ default: true, description: "Enables the built-in chat model" }),
			threads: Type.Optional(Type.Integer({ minimum: 1, description: "If unset: one less than the number of cores" })),
			contextTokens: Type.Integer({ minimum: 512, default: 4096, description: "Context of each answer" }),
			parallel: Type.Integer({
				minimum: 1,
				maximum: 16,
				default: 2,
				description: "Answers at the same time; an account without a running answer may start one more",
			}),
			queue: Type.Integer({ minimum: 0, default: 32, description: "Requests that may wait; more get 429" }),
			maxMemoryMb: Type.Integer({ minimum: 256, default: 2048, description: "Above this, the engine's process is killed" }),
			idleStopMs: ms(600_000, "Idle time after which the engine's process ends"),
		}),
	}),
	speech: section({
		embedded: section({
			enabled: Type.Boolean({ default: true, description: "Enables the built-in voices" }),
			threads: Type.Optional(Type.Integer({ minimum: 1, description: "If unset: one less than the number of cores" })),
			queue: Type.Integer({ minimum: 0, default: 128, description: "Requests that may wait; more get 429" }),
			maxMemoryMb: Type.Integer({ minimum: 256, default: 1024, description: "Above this, the engine's process is killed" }),
			idleStopMs: ms(600_000, "Idle time after which the engine's process ends"),
		}),
	}),
	embeddings: section({
		embedded: section({
			enabled: Type.Boolean({ default: true, description: "Enables the built-in embedding model" }),
			threads: Type.Optional(Type.Integer({ minimum: 1, description: "If unset: one less than the number of cores" })),
			queue: Type.Integer({ minimum: 0, default: 128, description: "Requests that may wait; more get 429" }),
			maxMemoryMb: Type.Integer({ minimum: 256, default: 512, description: "Above this, the engine's process is killed" }),
			idleStopMs: ms(600_000, "Idle time after which the engine's process ends"),
		}),
	}),
	images: ImagesSchema,
	documents: section({
		pricePerFileUsd: price({ maximum: 1_000, least: LEAST_USD, default: 0.01, description: "USD for a file that gives a text" }),
		processes: Type.Integer({
			minimum: 1,
			maximum: 64,
			default: 2,
			description: "Files that are read at the same time; others wait",
		}),
		fileMs: ms(30_000, "Maximum processor time for one file"),
		maxMemoryMb: Type.Integer({ minimum: 256, default: 1024, description: "Above this, reading a file is ended" }),
	}),
	web: WebSchema,
	costs: named(price({ maximum: 1_000_000, least: LEAST_USD }), {
		pattern: `^(?:${SKUS.join("|")})$`,
		names: "a sku of a statement, like search-request or MODEL-llm-output-mtoken",
		default: {},
		description: "Your cost of one unit of a sku, in USD: for services without a model, or in place of a model's cost",
	}),
	upstreams: named(UpstreamSchema, {
		pattern: "^[a-z0-9][a-z0-9_-]{0,63}$",
		names: "a name of up to 64 lower-case letters, digits, - and _ that starts with a letter or a digit",
		default: {},
	}),
	rpc: RpcSchema,
	models: section({
		public: Type.Boolean({ default: false, description: "true: the lists of models need no credential" }),
		entries: named(ModelEntrySchema, { names: "a model id without control characters", default: {} }),
		traits: named(named(text()), {
			default: {},
			description: "type -> trait -> model id",
		}),
		mappings: named(named(text()), {
			default: {},
			description: "type -> compatibility name -> model id",
		}),
		discoverEveryMs: ms(30_000, "How often an unreachable upstream is asked again"),
	}),
	characters: Type.Optional(Type.String({ description: "A JSON file of characters that replaces the built-in ones" })),
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
