import { hash } from "node:crypto";
import { ApiError } from "../../errors/index.ts";
import { addressNetwork, SharedCapacity } from "../../fairness/index.ts";
import { orApiError } from "../../store/api-refusal.ts";
import type { StorePort } from "../../store/port.ts";
import { type Clock, systemTimers, type Timers } from "../../telemetry/clock.ts";
import type { Log } from "../../telemetry/log.ts";
import { type Chain, ChainError, isSignedByContract, isSignedByKey } from "../evm/index.ts";
import { checkMessage, SKEW_MS } from "./check-message.ts";
import { type SignInChallenge, signInChallenge } from "./sign-in-challenge.ts";
import { decodeSignIn, signInHeader } from "./sign-in-header.ts";
import { readProof, type SignInProof } from "./sign-in-proof.ts";
import { refusedSignIn } from "./sign-in-refusal.ts";
import { isSignedBySolana } from "./solana-signature.ts";
import { type SignedInWallet, type VerifiedSignIn, VerifiedSignIns } from "./verified-sign-ins.ts";

export interface WalletSignInDeps {
	readonly store: Pick<StorePort, "admin">;
	readonly clock: Clock;
	/** Default: the system's timers. */
	readonly timers?: Timers;
	readonly log: Log;
	/** Returns the origins for which wallets sign in: `signInOrigins`. */
	readonly origins: () => readonly URL[];
	/** Returns true if a sign-in is valid for one request only. */
	readonly singleUse: () => boolean;
	/** Verifies contract wallets: `contractNode`. null: only wallets with a key sign in. */
	readonly chain: Chain | null;
	/**
	 * Counts one call to that node for the caller's address.
	 * @throws RATE_LIMIT_EXCEEDED
	 */
	readonly takeContractCheck: (clientAddress: string) => void;
}

/** The owner of a contract may change, so its verdict is cached for this time. */
const CONTRACT_KNOWN_MS = 30_000;
/** Concurrent calls to the node for all callers; each network has a share of them. */
const MAX_CONTRACT_CHECKS = 64;
/** A caller waits at most this long for all calls about its signature; the node may take longer for each. */
const MAX_CONTRACT_WAIT_MS = 10_000;

/**
 * Authenticates wallets that sign their requests (docs/wallets.md). A header is verified once and cached by the hash of its
 * bytes until it expires. If sign-ins are single-use, the store records each use for all nodes.
 */
export class WalletSignIn {
	readonly #deps: WalletSignInDeps;
	readonly #verified = new VerifiedSignIns();
	readonly #checking = new Map<string, Promise<VerifiedSignIn>>();
	readonly #contractChecks = new SharedCapacity(MAX_CONTRACT_CHECKS);

	constructor(deps: WalletSignInDeps) {
		this.#deps = deps;
	}

	/**
	 * Returns the wallet that signed the request: synchronously if its header is cached, null if it has none. Throws or rejects
	 * with X402_INVALID_SIGN_IN; if only the node or the store can decide, with RATE_LIMIT_EXCEEDED and SERVICE_UNAVAILABLE.
	 */
	signedIn(request: Request, clientAddress: () => string): SignedInWallet | null | Promise<SignedInWallet> {
		const header = signInHeader(request.headers);
		if (header === null) return null;
		const name = hash("sha256", header, "hex");
		const verified = this.#verified.find(name, this.#deps.clock.wallMs());
		if (this.#deps.singleUse()) return this.#useOnce(verified ?? this.#check(name, header, clientAddress));
		return verified === null ? this.#check(name, header, clientAddress).then(({ wallet }) => wallet) : verified.wallet;
	}

	/** Returns the challenge that a caller of this URL signs. */
	challenge(requestUrl: string): SignInChallenge {
		return signInChallenge(requestUrl, this.#deps.origins(), this.#deps.clock.wallMs());
	}

	async #useOnce(checked: VerifiedSignIn | Promise<VerifiedSignIn>): Promise<SignedInWallet> {
		const verified = await checked;
		if (verified.served) throw refusedSignIn("nonce_used");
		const { wallet, nonce } = verified;
		const id = `siwx:${wallet.identity}:${nonce}`;
		const { store, clock } = this.#deps;
		// Another node's clock may be behind ours, so it accepts the header a little longer.
		const expiresAtMs = wallet.expiresAtMs + SKEW_MS;
		const firstUse = await orApiError(store.admin("useToken", { id, expiresAtMs, nowMs: clock.wallMs() }));
		verified.served = true;
		if (!firstUse) throw refusedSignIn("nonce_used");
		return wallet;
	}

	/** Verifies a header; concurrent requests with the same header share one check. */
	#check(name: string, header: string, clientAddress: () => string): Promise<VerifiedSignIn> {
		const running = this.#checking.get(name);
		if (running !== undefined) return running;
		const checking = this.#verify(header, clientAddress)
			.then((verified) => {
				this.#verified.add(name, verified);
				return verified;
			})
			.finally(() => this.#checking.delete(name));
		this.#checking.set(name, checking);
		return checking;
	}

	async #verify(header: string, clientAddress: () => string): Promise<VerifiedSignIn> {
		const { clock, origins, log } = this.#deps;
		try {
			const nowMs = clock.wallMs();
			const proof = await readProof(decodeSignIn(header));
			const expiresAtMs = await checkMessage(proof, origins(), nowMs);
			const signer = await this.#signer(proof, clientAddress);
			const { chain, address, message } = proof;
			const wallet = { identity: `${chain.identity}${address}`, chain: chain.kind, address, expiresAtMs };
			const knownUntilMs = signer === "key" ? expiresAtMs : Math.min(expiresAtMs, nowMs + CONTRACT_KNOWN_MS);
			return { wallet, nonce: message.nonce, knownUntilMs, served: false };
		} catch (error) {
			if (error instanceof ApiError) log.debug({ code: error.code, ...error.options.extra }, "a wallet did not sign in");
			throw error;
		}
	}

	/** Returns who made the signature: a key or a contract. Rejects if neither did. */
	async #signer({ chain, address, text, signature }: SignInProof, clientAddress: () => string): Promise<"key" | "contract"> {
		if (chain.kind === "solana") {
			if (isSignedBySolana(address, text, signature)) return "key";
			throw refusedSignIn("signature_mismatch");
		}
		const signed = { wallet: address, message: text, signature };
		if (await isSignedByKey(signed)) return "key";
		if (this.#deps.chain === null) throw refusedSignIn("signature_mismatch");
		const client = clientAddress();
		this.#deps.takeContractCheck(client);
		if (await this.#acceptedByContract({ ...signed, chain: this.#deps.chain }, addressNetwork(client))) return "contract";
		throw refusedSignIn("signature_mismatch");
	}

	/** Calls count until the node has answered them, even if no caller waits any more. */
	async #acceptedByContract(signed: Parameters<typeof isSignedByContract>[0], network: string): Promise<boolean> {
		if (this.#contractChecks.take(network, 1) !== "taken")
			throw undecidedError("too many wallets sign in through a contract right now");
		const check = isSignedByContract(signed).finally(() => this.#contractChecks.giveBack(network, 1));
		const late = Promise.withResolvers<never>();
		const { timers = systemTimers } = this.#deps;
		const cancel = timers.after(MAX_CONTRACT_WAIT_MS, () => late.reject(undecidedError("the chain did not answer in time")));
		try {
			return await Promise.race([check, late.promise]);
		} catch (error) {
			if (error instanceof ChainError) throw undecidedError("the chain did not answer", error);
			throw error;
		} finally {
			cancel();
			check.catch(() => {});
		}
	}
}

function undecidedError(reason: string, cause?: unknown): ApiError {
	const message = `Could not check the Sign-in-with-x signature: ${reason}; try again shortly`;
	return new ApiError("SERVICE_UNAVAILABLE", { message, retryAfterSeconds: 5, ...(cause === undefined ? {} : { cause }) });
}
