import { ApiError } from "../../errors/index.ts";
import { invalidField, readEvmAddress } from "../../schema/index.ts";
import { AdminError } from "../../store/admin/errors.ts";
import { orApiError } from "../../store/api-refusal.ts";
import type { ApiKey, KeyType, StorePort } from "../../store/port.ts";
import { SecretReader } from "../../store/secret-reader.ts";
import { type Chain, ChainError, isSignedBy } from "../evm/index.ts";
import { generateKey } from "../keys/generate-key.ts";
import type { ReadKeyFields } from "../keys/key-fields.ts";
import type { Stakes } from "../staking/port.ts";
import { type Challenge, issueChallenge, readChallenge, usedChallenge } from "./challenge.ts";

export interface Web3KeyDeps {
	readonly store: Pick<StorePort, "admin">;
	readonly stakes: Stakes;
	/** The chain of contract wallets; null if none is configured. */
	readonly chain: Chain | null;
	/** The staked token and its chain, as callers read them. */
	readonly names: { readonly token: string; readonly chain: string };
}

export interface Web3KeyRequest {
	readonly type: KeyType;
	readonly address: string;
	readonly signature: string;
	readonly token: string;
	readonly fields: ReadKeyFields;
}

/** Issues keys to wallets with a stake: a wallet that signs a token gets a key of its account. */
export class Web3KeyService {
	readonly #deps: Web3KeyDeps;
	readonly #secret: SecretReader;

	constructor(deps: Web3KeyDeps) {
		this.#deps = deps;
		this.#secret = new SecretReader(deps.store, "web3-key-token");
	}

	/**
	 * Returns a new token to sign.
	 * @throws 503
	 */
	challenge(nowMs: number): Promise<string> {
		return issueChallenge(this.#secret, nowMs);
	}

	/**
	 * Creates a key for the wallet; its secret is in this answer only.
	 * @throws 400 if token, address, signature or stake is wrong, in this order; 403 for a disabled account; 503 if chain or
	 * store cannot answer now
	 */
	async create(request: Web3KeyRequest, nowMs: number): Promise<{ readonly key: ApiKey; readonly secret: string }> {
		const challenge = await readChallenge(this.#secret, request.token, nowMs);
		const wallet = await readEvmAddress(request.address);
		if (wallet === null) throw invalidField(["address"], "Invalid wallet address; send 0x and 40 hex digits");
		await this.#checkSignature(wallet, request);
		await this.#checkAccount(wallet, nowMs);
		await this.#checkStake(wallet, nowMs);
		const { secret, key } = generateKey(request.type, request.fields, nowMs);
		return { key: await this.#make(wallet, challenge, key), secret };
	}

	async #checkSignature(wallet: string, { token, signature }: Web3KeyRequest): Promise<void> {
		let signed: boolean;
		try {
			signed = await isSignedBy({ wallet, message: token, signature, chain: this.#deps.chain });
		} catch (error) {
			if (!(error instanceof ChainError)) throw error;
			const message = "signature: Could not verify wallet signature: the chain did not answer; try again";
			throw new ApiError("INVALID_REQUEST", { message, param: "signature", cause: error });
		}
		if (!signed)
			throw invalidField(["signature"], "Wallet signature does not match; sign the token by personal_sign with this wallet");
	}

	async #checkAccount(wallet: string, nowMs: number): Promise<void> {
		const standing = await orApiError(this.#deps.store.admin("walletStanding", { wallet, nowMs }));
		if (standing?.disabled) throw new ApiError("API_ACCESS_DISABLED");
	}

	async #checkStake(wallet: string, nowMs: number): Promise<void> {
		const { token, chain } = this.#deps.names;
		let staked: boolean;
		try {
			staked = await orApiError(this.#deps.stakes.hasStake(wallet, nowMs));
		} catch (error) {
			if (!(error instanceof ChainError)) throw error;
			const message = `Could not read the wallet's stake on ${chain} right now; try again shortly`;
			throw new ApiError("SERVICE_UNAVAILABLE", { message, retryAfterSeconds: 5, cause: error });
		}
		if (!staked) throw invalidField(["address"], `Wallet has no staked ${token} on ${chain}`);
	}

	async #make(wallet: string, challenge: Challenge, key: ReturnType<typeof generateKey>["key"]): Promise<ApiKey> {
		try {
			return await this.#deps.store.admin("createWeb3Key", { ...key, wallet, token: challenge });
		} catch (error) {
			if (error instanceof AdminError && error.code === "CONFLICT") throw usedChallenge();
			return orApiError(Promise.reject(error));
		}
	}
}
