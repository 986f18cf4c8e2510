import Type from "typebox";
import { HTTP_ADDRESS, headers, health, maxConcurrent, named, PLAIN_TEXT, section } from "./schema-types.ts";

/** Capabilities of a chain's upstream that not every node has. */
const RPC_CAPABILITIES = ["archive", "trace", "debug", "txpool", "bundler"] as const;

export const RpcUpstreamSchema = section({
	name: Type.Optional(
		Type.String({
			pattern: PLAIN_TEXT,
			minLength: 1,
			maxLength: 64,
			description: "Name in logs and metrics. If unset: its host",
		}),
	),
	url: Type.String({ pattern: HTTP_ADDRESS, description: "Address for JSON-RPC requests" }),
	headers: headers(),
	order: Type.Integer({ default: 0, description: "Lower values come first" }),
	weight: Type.Number({ exclusiveMinimum: 0, default: 1, description: "Relative share among upstreams of the same order" }),
	capabilities: Type.Optional(
		Type.Array(Type.Enum([...RPC_CAPABILITIES]), {
			description: "Its capabilities: archive, trace, debug, txpool, bundler. If unset, they are learned from its answers",
		}),
	),
	maxConcurrent: maxConcurrent(),
	health: health(),
});

const RpcNetworkSchema = section({
	enabled: Type.Optional(
		Type.Boolean({
			description: "false removes the network. If unset, the network is offered; optional networks only with an upstream",
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
			description: "Credits within any 24 hours",
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
		description: "true: networks without an upstream use public endpoints, which see every call",
	}),
	pricePerCreditUsd: Type.Number({
		minimum: 0,
		maximum: 1,
		default: 0.000000625,
		description: "USD per credit, in whole billionths of a USD",
	}),
	limits: section({
		paid: RpcLimitsSchema(100, 10_000_000),
		staff: RpcLimitsSchema(1_000, 100_000_000),
	}),
	hedgePercent: Type.Number({
		minimum: 0,
		maximum: 100,
		default: 10,
		description: "Percentage of reads that may go to a second upstream if the first is slow; 0 turns this off",
	}),
	cacheMb: Type.Integer({
		minimum: 0,
		maximum: 65_536,
		default: 64,
		description: "Memory for cached answers that stay true; 0 turns the cache off",
	}),
	sendsKeptDays: Type.Integer({
		minimum: 1,
		maximum: 36_500,
		default: 400,
		description: "How many days the record of sends is kept",
	}),
});
