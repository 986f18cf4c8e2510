/** These libraries are loaded at the first payment, since they cost tens of megabytes. */
import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import {
	type Abi,
	createPublicClient,
	encodeFunctionData,
	type Hex,
	http,
	keccak256,
	type PublicClient,
	TransactionNotFoundError,
} from "viem";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { NOT_REDIRECTED } from "../exchange.ts";
import type { BroadcastQueue } from "./broadcast-queue.ts";
import { PendingSettlements } from "./pending-settlements.ts";
import { FacilitatorUnavailable, paymentBody, type Settled, type SignedPayment, type Verdict } from "./port.ts";
import { reasonOf } from "./remote-facilitator.ts";

export interface EvmSettlerOptions {
	readonly key: string;
	readonly chainId: number;
	readonly rpcUrl: string;
	readonly rpcTimeoutMs: number;
	readonly confirmationTimeoutMs: number;
	readonly eip6492Factories: readonly string[];
	readonly broadcasts: BroadcastQueue;
}

/** Interval at which a settlement checks for its block. */
const POLL_MS = 500;
/** Storage may be colder when it runs than when it was estimated. */
const GAS_PERCENT = 125n;
/**
 * Most gas that a settlement may cost. A transfer that a key signed needs some 80,000. One of a contract runs the
 * contract's own code, which decides what our key pays for. The limit allows wallets of several owners, or of
 * passkeys.
 */
const MAX_GAS = 1_000_000n;

type Signer = Parameters<typeof toFacilitatorEvmSigner>[0];
type Broadcast = (transaction: string) => Promise<void>;

/** Verifies and settles payments on one chain, with one key. */
export class EvmSettler {
	readonly #options: EvmSettlerOptions;
	readonly #account: PrivateKeyAccount;
	readonly #client: PublicClient;
	readonly #pending: PendingSettlements;

	constructor(options: EvmSettlerOptions) {
		this.#options = options;
		this.#account = accountOf(options.key);
		this.#client = createPublicClient({
			transport: http(options.rpcUrl, { timeout: options.rpcTimeoutMs, retryCount: 1, fetchOptions: NOT_REDIRECTED }),
			pollingInterval: POLL_MS,
		});
		this.#pending = new PendingSettlements((transaction) => this.#isKnown(transaction as Hex));
	}

	async verify(payment: SignedPayment): Promise<Verdict> {
		const { paymentPayload, paymentRequirements } = bodyOf(payment);
		const { isValid, invalidReason } = await this.#scheme().verify(paymentPayload, paymentRequirements);
		return { valid: isValid, reason: reasonOf(invalidReason) ?? "invalid_payload" };
	}

	async settle(payment: SignedPayment, onBroadcast: Broadcast): Promise<Settled> {
		const { paymentPayload, paymentRequirements } = bodyOf(payment);
		const { success, transaction, errorReason } = await this.#scheme(onBroadcast).settle(paymentPayload, paymentRequirements);
		return { success, transaction: transaction === "" ? null : transaction.toLowerCase(), reason: reasonOf(errorReason) };
	}

	#scheme(onBroadcast?: Broadcast): ExactEvmScheme {
		const { confirmationTimeoutMs, eip6492Factories } = this.#options;
		return new ExactEvmScheme(toFacilitatorEvmSigner(this.#signer(onBroadcast), { confirmationTimeoutMs }), {
			eip6492AllowedFactories: [...eip6492Factories],
			simulateInSettle: true,
			pendingSettlementStore: this.#pending,
		});
	}

	#signer(onBroadcast: Broadcast | undefined): Signer {
		const client = this.#client;
		return {
			address: this.#account.address,
			// The call gets as much gas as a settlement: what needs more is refused before it is sent.
			readContract: (args) => client.readContract({ ...args, gas: MAX_GAS } as Parameters<PublicClient["readContract"]>[0]),
			verifyTypedData: (args) => client.verifyTypedData(args as Parameters<PublicClient["verifyTypedData"]>[0]),
			writeContract: ({ address, abi, functionName, args, dataSuffix }) => {
				const data = encodeFunctionData({ abi: abi as Abi, functionName, args });
				return this.#send(address, dataSuffix === undefined ? data : `${data}${dataSuffix.slice(2)}`, onBroadcast);
			},
			sendTransaction: ({ to, data }) => this.#send(to, data, onBroadcast),
			waitForTransactionReceipt: (args) => client.waitForTransactionReceipt(args),
			getCode: (args) => client.getCode(args),
		};
	}

	/**
	 * Only nonce and broadcast are one step. A wait for a block holds up no other send. A dropped transaction leaves no
	 * gap, since each send fetches the nonce from the node.
	 */
	async #send(to: Hex, data: Hex, onBroadcast: Broadcast | undefined): Promise<Hex> {
		const { chainId, broadcasts } = this.#options;
		const account = this.#account;
		const [gas, fees] = await Promise.all([
			this.#client.estimateGas({ account, to, data }),
			this.#client.estimateFeesPerGas({ chain: null, type: "eip1559" }),
		]);
		if (gas > MAX_GAS) throw new FacilitatorUnavailable(`a settlement would cost ${gas} gas: more than ${MAX_GAS}`);
		const request = { type: "eip1559", chainId, to, data, gas: (gas * GAS_PERCENT) / 100n, ...fees } as const;
		return broadcasts.inTurn(`eip155:${chainId}:${account.address.toLowerCase()}`, async () => {
			const nonce = await this.#client.getTransactionCount({ address: account.address, blockTag: "pending" });
			const serializedTransaction = await account.signTransaction({ ...request, nonce });
			// The hash is known before the send: whatever happens to this process, the transaction can be found.
			await onBroadcast?.(keccak256(serializedTransaction));
			return this.#client.sendRawTransaction({ serializedTransaction });
		});
	}

	async #isKnown(hash: Hex): Promise<boolean> {
		try {
			await this.#client.getTransaction({ hash });
			return true;
		} catch (error) {
			if (error instanceof TransactionNotFoundError) return false;
			throw error;
		}
	}
}

/** Throws if the digits are no key of the curve. The message never contains the key. */
function accountOf(key: string): PrivateKeyAccount {
	try {
		return privateKeyToAccount(`0x${key.replace(/^0x/, "")}`);
	} catch {
		throw new FacilitatorUnavailable("x402.facilitator.key: is no private key");
	}
}

type Scheme = Parameters<ExactEvmScheme["verify"]>;

function bodyOf(payment: SignedPayment): { readonly paymentPayload: Scheme[0]; readonly paymentRequirements: Scheme[1] } {
	const { paymentPayload, paymentRequirements } = paymentBody(payment);
	return { paymentPayload: paymentPayload as unknown as Scheme[0], paymentRequirements: paymentRequirements as Scheme[1] };
}
