/**
 * GET /x402/transactions/{walletAddress}: a wallet's history, only for the wallet itself. Free. The amounts add up to
 * the balance, to the nano-USD. A charge is listed as soon as its answer is sent.
 */

import Type, { type Static } from "typebox";
import { checkOwnWallet } from "../../access/index.ts";
import { NANO_PER_USD, type Statements } from "../../budgets/index.ts";
import type { WalletEntry } from "../../payments/port.ts";
import { named } from "../../schema/named-schema.ts";
import type { Call } from "../../server/call.ts";
import { type Answer, type Endpoint, json, plain } from "../../server/endpoint.ts";

export interface WalletTransactionsDeps {
	readonly statements: Statements;
	readonly readsPerMinute: () => number;
}

const DEFAULT_LIMIT = 50;

const TransactionQuerySchema = Type.Object({
	limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: `Default ${DEFAULT_LIMIT}` })),
	offset: Type.Optional(
		Type.Integer({
			minimum: 0,
			maximum: 1_000_000_000_000,
			description: "Number of newer entries to skip. null and empty count as 0",
		}),
	),
});
type TransactionQuery = Static<typeof TransactionQuerySchema>;

const TransactionsSchema = named(
	"WalletTransactions",
	Type.Object({
		success: Type.Literal(true),
		data: Type.Object({
			walletAddress: Type.String({ description: "Lower case on EVM chains" }),
			currentBalance: Type.Number({ description: "USD" }),
			transactions: Type.Array(
				Type.Object({
					id: Type.String(),
					amount: Type.Number({ description: "USD. Negative: money that was spent" }),
					balanceAfter: Type.Number({ description: "USD" }),
					type: Type.String({ description: "TOP_UP, CHARGE or REFUND. Others may be added" }),
					createdAt: Type.String({ format: "date-time" }),
					requestId: Type.Union([Type.String({ description: "X-Request-ID" }), Type.Null()]),
					modelId: Type.Union([Type.String(), Type.Null()]),
				}),
			),
			pagination: Type.Object({ limit: Type.Integer(), offset: Type.Integer(), hasMore: Type.Boolean() }),
		}),
	}),
);

export function walletTransactionsRoute(parts: WalletTransactionsDeps): Endpoint {
	return plain({
		method: "GET",
		path: "/x402/transactions/:walletAddress",
		name: "x402-transactions",
		tag: "Wallets",
		summary: "List a wallet's top-ups, charges and refunds, newest first. The wallet itself signs in",
		openAi: false,
		callers: ["wallet"],
		listLimit: false,
		minuteLimit: { subject: "x402-transactions", requests: parts.readsPerMinute },
		query: TransactionQuerySchema,
		codes: ["X402_WALLET_MISMATCH"],
		answer: { type: "application/json", schema: TransactionsSchema, description: "A page of entries" },
		checkRequest: (call, params) => void checkOwnWallet(call.caller, params.walletAddress ?? ""),
		run: ({ query, params }, call) => transactions(params.walletAddress ?? "", query, call, parts),
	});
}

async function transactions(
	named: string,
	{ limit = DEFAULT_LIMIT, offset = 0 }: TransactionQuery,
	call: Call,
	{ statements }: WalletTransactionsDeps,
): Promise<Answer> {
	const { identity, address } = checkOwnWallet(call.caller, named);
	const { balance, entries, hasMore } = await statements.wallet({ identity, offset, limit });
	return json({
		success: true,
		data: {
			walletAddress: address,
			currentBalance: balance / NANO_PER_USD,
			transactions: entries.map(transactionOf),
			pagination: { limit, offset, hasMore },
		},
	});
}

function transactionOf({ id, amount, balanceAfter, type, createdAtMs, requestId, modelId }: WalletEntry) {
	return {
		id,
		amount: amount / NANO_PER_USD,
		balanceAfter: balanceAfter / NANO_PER_USD,
		type,
		createdAt: new Date(createdAtMs).toISOString(),
		requestId,
		modelId,
	};
}
