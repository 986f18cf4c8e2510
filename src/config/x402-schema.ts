import Type from "typebox";
import { EVM_ADDRESS, HTTP_ADDRESS, headers, ms, named, PRIVATE_KEY, SOLANA_ADDRESS, section } from "./schema-types.ts";

/** Networks on which wallets may pay. */
export const X402_NETWORKS = ["base", "base-sepolia"] as const;
/** Solana clusters on which wallets may pay. */
export const SOLANA_NETWORKS = ["solana", "solana-devnet"] as const;

/** How wallets pay (docs/wallets.md). */
export const X402Schema = section({
	payTo: Type.Optional(
		Type.String({ pattern: EVM_ADDRESS, description: "Receives what wallets pay; left out: wallets cannot pay" }),
	),
	networks: named(
		section({
			rpcUrl: Type.Optional(Type.String({ pattern: HTTP_ADDRESS, description: "Instead of x402.rpcUrl" })),
		}),
		{
			pattern: `^(${X402_NETWORKS.join("|")})$`,
			names: `one of ${X402_NETWORKS.join(", ")}`,
			default: { base: {} },
			description: "Where wallets may pay: base, base-sepolia (its money is worth nothing)",
		},
	),
	rpcUrl: Type.Optional(
		Type.String({ pattern: HTTP_ADDRESS, description: "JSON-RPC of the network: what it proves is credited, nothing else" }),
	),
	rpcTimeoutMs: ms(10_000, "Each call of it"),
	facilitator: section({
		url: Type.Optional(Type.String({ pattern: HTTP_ADDRESS, description: "Verifies and settles over HTTP" })),
		headers: headers(),
		key: Type.Optional(
			Type.String({
				pattern: PRIVATE_KEY,
				description: "Verifies and settles in the server: the private key of an address that pays the chain's fees",
			}),
		),
	}),
	solana: section({
		payTo: Type.Optional(
			Type.String({ pattern: SOLANA_ADDRESS, description: "Receives what wallets pay on Solana; left out: none can pay there" }),
		),
		network: Type.Enum([...SOLANA_NETWORKS], {
			default: "solana",
			description: "Where wallets may pay; the money of solana-devnet is worth nothing",
		}),
		rpcUrl: Type.Optional(
			Type.String({ pattern: HTTP_ADDRESS, description: "JSON-RPC of the cluster: what it proves is credited, nothing else" }),
		),
		commitment: Type.Enum(["confirmed", "finalized"], {
			default: "finalized",
			description: "How firmly a transfer must stand before it is credited",
		}),
		facilitator: section({
			url: Type.Optional(Type.String({ pattern: HTTP_ADDRESS, description: "Instead of x402.facilitator.url" })),
			headers: headers(),
		}),
		feePayer: Type.Optional(
			Type.String({
				pattern: SOLANA_ADDRESS,
				description: "The facilitator's address that pays the fees; left out: its /supported is asked",
			}),
		),
	}),
	minimumTopUpUsd: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 5 }),
	suggestedTopUpUsd: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 10 }),
	maximumTopUpUsd: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 10_000 }),
	payOnRoutes: Type.Boolean({
		default: true,
		description: "A paid route takes a payment for a top-up and serves that one request; false: 400",
	}),
	confirmations: Type.Integer({
		minimum: 0,
		maximum: 100_000,
		default: 0,
		description: "Blocks on top of a transfer's block before it is credited",
	}),
	finalBlock: Type.Enum(["latest", "safe", "finalized"], {
		default: "safe",
		description: "The block up to which the chain changes no more: a payment fails for good only by it",
	}),
	eip6492Factories: Type.Array(Type.String({ pattern: EVM_ADDRESS }), {
		default: [],
		description: "Factories by which the facilitator in the server may deploy a payer's wallet",
	}),
	sweepEveryMs: ms(5_000, "How often payments whose end is not known are looked at"),
});
