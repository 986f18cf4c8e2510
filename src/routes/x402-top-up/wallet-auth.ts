import type { SignInChallenge, WalletSignIn } from "../../access/index.ts";
import { type AddressWindows, NANO_PER_USD, WALLET_FLOOR } from "../../budgets/index.ts";
import type { Caller } from "../../budgets/port.ts";
import { ApiError } from "../../errors/index.ts";
import type { PaymentRequired, TopUpService } from "../../payments/port.ts";
import { API_PREFIX, type Call, type SignedInWallet, type WalletAuth } from "../../server/index.ts";
import {
	failedPayment,
	headerOf,
	invalidPayment,
	paymentOf,
	paymentResponseHeaders,
	TOP_UP_WINDOW,
	takePayment,
} from "./index.ts";

export interface X402WalletAuthDeps {
	readonly signIn: Pick<WalletSignIn, "signedIn" | "challenge">;
	/** null: no receiver is configured. */
	readonly topUps: TopUpService | null;
	readonly addresses: AddressWindows;
	readonly topUpsPerMinute: () => number;
}

const TOP_UP = `POST ${API_PREFIX}/x402/top-up`;
const SIGN_IN_HEADERS = { header: "SIGN-IN-WITH-X", legacyHeader: "X-Sign-In-With-X" } as const;

/** Authenticates wallets (docs/wallets.md) by a signature or a payment for the request, and makes their 402 answers. */
export class X402WalletAuth implements WalletAuth {
	readonly #deps: X402WalletAuthDeps;

	constructor(deps: X402WalletAuthDeps) {
		this.#deps = deps;
	}

	signedIn(call: Call): SignedInWallet | null | Promise<SignedInWallet | null> {
		return this.#deps.signIn.signedIn(call.request, () => call.address);
	}

	paying(call: Call): SignedInWallet | null | Promise<SignedInWallet | null> {
		const { topUps, addresses, topUpsPerMinute } = this.#deps;
		if (topUps === null) return null;
		const payment = paymentOf(topUps, call.request);
		if (payment === null) return null;
		if (!topUps.payOnRoutes)
			throw invalidPayment(`This route takes no payments: pay with ${TOP_UP}, then sign in with SIWX`, "payment_on_route");
		addresses.take(call.address, TOP_UP_WINDOW, topUpsPerMinute());
		return this.#pay(call, topUps, payment);
	}

	async #pay(call: Call, topUps: TopUpService, payment: string): Promise<SignedInWallet> {
		const { request } = call;
		const outcome = await takePayment(topUps, payment, call);
		if (outcome.kind !== "credited")
			throw failedPayment(outcome, request, (error, headers) => this.#offer(call, topUps, error, headers));
		const headers = paymentResponseHeaders(request, outcome.response);
		if (outcome.first) return { identity: outcome.payment.identity, headers };
		// After settlement anybody can read the payment from the chain, so it is no credential.
		const message = `This payment was taken before, and is in its wallet's balance: sign in with SIWX (header ${SIGN_IN_HEADERS.header})`;
		throw new ApiError("AUTHENTICATION_FAILED", { message, headers });
	}

	offer(call: Call): ApiError | null {
		const { topUps } = this.#deps;
		const error = `Payment required: send an API key, sign in with a wallet, or pay one of the offers for a wallet's balance`;
		return topUps === null ? null : this.#offer(call, topUps, error, {});
	}

	topUpNeeded(call: Call, wallet: Caller, error: ApiError): ApiError {
		const { topUps } = this.#deps;
		const { retryAfterSeconds, param } = error.options;
		const options = {
			...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
			...(param === undefined ? {} : { param }),
			cause: error,
		};
		if (topUps === null)
			return new ApiError(error.code, { ...options, message: `${error.message}, which is not configured here` });
		const { offers } = topUps;
		const { challenge, header } = this.#challenged(call, topUps, error.message);
		const { limits } = offers;
		const receiver = offers.receiverFor(wallet.wallet ?? "");
		const body = {
			error: "Payment required",
			code: error.code,
			reason: "insufficient_balance",
			message: error.message,
			currentBalanceUsd: wallet.balances().usd / NANO_PER_USD,
			minimumBalanceUsd: WALLET_FLOOR / NANO_PER_USD,
			description: call.endpoint.summary,
			suggestedTopUpUsd: limits.suggestedUsd,
			minimumTopUpUsd: limits.minimumUsd,
			supportedTokens: ["USDC"],
			supportedChains: offers.chains,
			topUpInstructions: {
				step1: `${TOP_UP} without a payment: the answer is 402 with what can be paid`,
				step2: "Sign one of accepts, for its amount or more",
				step3: "Repeat the request with the header PAYMENT-SIGNATURE, then this one",
				receiverWallet: receiver.payTo,
				tokenAddress: receiver.asset,
				tokenDecimals: receiver.decimals,
				network: receiver.network,
				minimumAmountUsd: limits.minimumUsd,
			},
			siwxChallenge: { info: challenge.info, supportedChains: challenge.supportedChains },
		};
		return new ApiError(error.code, { ...options, message: error.message, headers: { "PAYMENT-REQUIRED": header }, body });
	}

	#offer(call: Call, topUps: TopUpService, error: string, headers: Readonly<Record<string, string>>): ApiError {
		const { challenge, required, header } = this.#challenged(call, topUps, error);
		const { origin } = new URL(challenge.info.uri);
		const docs = `${origin}/docs`;
		const body = {
			...required,
			authOptions: {
				apiKey: {
					header: "Authorization: Bearer <key>",
					getKey: `${origin}${API_PREFIX}/api_keys/generate_web3_key`,
					docs,
				},
				x402Wallet: { ...SIGN_IN_HEADERS, topUp: `${origin}${API_PREFIX}/x402/top-up`, docs },
			},
		};
		return new ApiError("PAYMENT_REQUIRED", {
			message: error,
			headers: { ...headers, "PAYMENT-REQUIRED": header },
			body: wantsVersion1(call.request) ? { ...topUps.offers.v1(this.#offerRequest(call, topUps, error, challenge)) } : body,
		});
	}

	/** Returns the sign-in challenge, and the version 2 offer that contains it. */
	#challenged(
		call: Call,
		topUps: TopUpService,
		error: string,
	): { readonly challenge: SignInChallenge; readonly required: PaymentRequired; readonly header: string } {
		const challenge = this.#deps.signIn.challenge(call.request.url);
		const required = topUps.offers.v2(this.#offerRequest(call, topUps, error, challenge));
		return { challenge, required, header: headerOf(required) };
	}

	#offerRequest({ endpoint }: Call, { offers }: TopUpService, error: string, challenge: SignInChallenge) {
		return {
			resource: { url: challenge.info.uri, description: endpoint.summary, mimeType: "application/json" },
			error,
			amountUsd: offers.limits.suggestedUsd,
			extensions: { "sign-in-with-x": challenge },
		};
	}
}

function wantsVersion1({ url }: Request): boolean {
	const start = url.indexOf("?");
	return start >= 0 && new URLSearchParams(url.slice(start + 1)).get("x402Version") === "1";
}
