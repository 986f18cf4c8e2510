import Type from "typebox";
import { HTTP_ADDRESS, headers, health, maxConcurrent, named, PLAIN_TEXT, section } from "./schema-types.ts";

/** Capabilities of a chain's upstream that not every node has. */
const RPC_CAPABILITIES = ["archive", "trace", "debug", "txpool", "bundler"] as const;

export const RpcUpstreamSchema = section({
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

/** The chain proxy: networks, upstreams, price and limits. */
export const RpcSchema = section({
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
});
