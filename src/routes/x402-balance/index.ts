/**
 * GET /x402/balance/{walletAddress}: a wallet's balance, only for the wallet itself. Free. The balance includes every
 * top-up and charge that was answered before.
 */

import Type from "typebox";
import { checkOwnWallet } from "../../access/index.ts";
import { NANO_PER_USD, type Statements, walletMayConsume } from "../../budgets/index.ts";
import { ApiError } from "../../errors/index.ts";
import type { TopUpLimits } from "../../payments/port.ts";
import { named } from "../../schema/named-schema.ts";
import type { Call } from "../../server/call.ts";
import { type Answer, type Endpoint, json, plain } from "../../server/endpoint.ts";

export interface WalletBalanceDeps {
	readonly statements: Statements;
	readonly limits: () => TopUpLimits;
	readonly readsPerMinute: () => number;
}

const WalletBalanceSchema = named(
	"WalletBalance",
	Type.Object({
		success: Type.Literal(true),
		data: Type.Object({
			walletAddress: Type.String({ description: "Lower case on EVM chains" }),
			balanceUsd: Type.Number(),
			canConsume: Type.Boolean({ description: "true: the wallet has at least 0.10 USD, or diem" }),
			minimumTopUpUsd: Type.Number(),
			suggestedTopUpUsd: Type.Number(),
			diemBalanceUsd: Type.Number({ description: "The rest of today's diem of the linked account" }),
		}),
	}),
);

export function walletBalanceRoute(parts: WalletBalanceDeps): Endpoint {
	return plain({
		method: "GET",
		path: "/x402/balance/:walletAddress",
		name: "x402-balance",
		tag: "Wallets",
		summary: "Get a wallet's balance. The wallet itself signs in",
		openAi: false,
		callers: ["wallet"],
		listLimit: false,
		minuteLimit: { subject: "x402-balance", requests: parts.readsPerMinute },
		codes: ["INVALID_REQUEST", "X402_WALLET_MISMATCH"],
		answer: { type: "application/json", schema: WalletBalanceSchema, description: "Balances in USD" },
		checkRequest: (call, params) => void checkOwnWallet(call.caller, params.walletAddress ?? ""),
		run: ({ params }, call) => walletBalance(params.walletAddress ?? "", call, parts),
	});
}

async function walletBalance(address: string, call: Call, { statements, limits }: WalletBalanceDeps): Promise<Answer> {
	const { caller } = call;
	if (caller === null) throw new ApiError("AUTHENTICATION_FAILED");
	const wallet = checkOwnWallet(caller, address);
	const { balance: usd } = await statements.wallet({ identity: wallet.identity, offset: 0, limit: 1 });
	const { diem } = caller.balances();
	const { minimumUsd, suggestedUsd } = limits();
	return json({
		success: true,
		data: {
			walletAddress: wallet.address,
			balanceUsd: usd / NANO_PER_USD,
			canConsume: walletMayConsume({ usd, diem }),
			minimumTopUpUsd: minimumUsd,
			suggestedTopUpUsd: suggestedUsd,
			diemBalanceUsd: diem / NANO_PER_USD,
		},
	});
}
