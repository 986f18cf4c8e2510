import Type from "typebox";
import { EVM_ADDRESS, HTTP_ADDRESS, headers, ms, named, PRIVATE_KEY, SOLANA_ADDRESS, section } from "./schema-types.ts";

/** Networks on which wallets may pay. */
export const X402_NETWORKS = ["base", "base-sepolia"] as const;
/** Solana clusters on which wallets may pay. */
export const SOLANA_NETWORKS = ["solana", "solana-devnet"] as const;

/** How wallets pay (docs/wallets.md). */
export const X402Schema = section({
	payTo: Type.Optional(
		Type.String({ pattern: EVM_ADDRESS, description: "Address that receives payments. If unset, wallets cannot pay" }),
	),
	networks: named(
		section({
			rpcUrl: Type.Optional(Type.String({ pattern: HTTP_ADDRESS, description: "Replaces x402.rpcUrl" })),
		}),
		{
			pattern: `^(${X402_NETWORKS.join("|")})$`,
			names: `one of ${X402_NETWORKS.join(", ")}`,
			default: { base: {} },
			description: "Networks on which wallets may pay: base, base-sepolia (a test network: its money is worth nothing)",
		},
	),
	rpcUrl: Type.Optional(
		Type.String({
			pattern: HTTP_ADDRESS,
			description: "JSON-RPC address of a node of the network. Only payments that it proves are credited",
		}),
	),
	rpcTimeoutMs: ms(10_000, "Time limit of each call to that node"),
	facilitator: section({
		url: Type.Optional(
			Type.String({ pattern: HTTP_ADDRESS, description: "Address of a facilitator that verifies and settles over HTTP" }),
		),
		headers: headers(),
		key: Type.Optional(
			Type.String({
				pattern: PRIVATE_KEY,
				description: "Private key of the address that pays gas, if the server itself verifies and settles",
			}),
		),
	}),
	solana: section({
		payTo: Type.Optional(
			Type.String({
				pattern: SOLANA_ADDRESS,
				description: "Address that receives payments on Solana. If unset, wallets cannot pay there",
			}),
		),
		network: Type.Enum([...SOLANA_NETWORKS], {
			default: "solana",
			description: "Cluster on which wallets may pay. solana-devnet is a test network: its money is worth nothing",
		}),
		rpcUrl: Type.Optional(
			Type.String({
				pattern: HTTP_ADDRESS,
				description: "JSON-RPC address of a node of the cluster. Only payments that it proves are credited",
			}),
		),
		commitment: Type.Enum(["confirmed", "finalized"], {
			default: "finalized",
			description: "Commitment that a transfer needs before it is credited",
		}),
		facilitator: section({
			url: Type.Optional(Type.String({ pattern: HTTP_ADDRESS, description: "Replaces x402.facilitator.url" })),
			headers: headers(),
		}),
		feePayer: Type.Optional(
			Type.String({
				pattern: SOLANA_ADDRESS,
				description: "The facilitator's address that pays the fees. If unset, it is read from the facilitator's /supported",
			}),
		),
	}),
	minimumTopUpUsd: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 5 }),
	suggestedTopUpUsd: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 10 }),
	maximumTopUpUsd: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 10_000 }),
	payOnRoutes: Type.Boolean({
		default: true,
		description: "true: a payment on a paid route is a top-up, and that one request is served; false: it gets 400",
	}),
	confirmations: Type.Integer({
		minimum: 0,
		maximum: 100_000,
		default: 0,
		description: "Number of blocks after a transfer's block before it is credited",
	}),
	finalBlock: Type.Enum(["latest", "safe", "finalized"], {
		default: "safe",
		description: "The block up to which the chain cannot change. A payment fails permanently only by this block",
	}),
	eip6492Factories: Type.Array(Type.String({ pattern: EVM_ADDRESS }), {
		default: [],
		description: "Factories through which the server's own facilitator may deploy a payer's wallet",
	}),
	sweepEveryMs: ms(5_000, "How often payments with an unknown outcome are checked"),
});
