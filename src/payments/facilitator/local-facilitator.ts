import type { KnownNetwork } from "../networks.ts";
import type { BroadcastQueue } from "./broadcast-queue.ts";
import type { EvmSettler } from "./evm-settler.ts";
import { type Facilitator, FacilitatorUnavailable, type Settled, type SignedPayment, type Verdict } from "./port.ts";

export interface LocalFacilitatorOptions {
	/** 64 hex digits. */
	readonly key: string;
	/** Nodes of the networks on which it can settle. */
	readonly nodes: ReadonlyMap<KnownNetwork["id"], { readonly chainId: number; readonly rpcUrl: string }>;
	/** Timeout of each call to a node. */
	readonly rpcTimeoutMs: number;
	/** How long a settlement waits for its block. */
	readonly confirmationTimeoutMs: number;
	readonly eip6492Factories: readonly string[];
	readonly broadcasts: BroadcastQueue;
}

/** A facilitator in this process, with a key of the operator. Its libraries are loaded at the first payment. */
export class LocalFacilitator implements Facilitator {
	readonly name = "in the server";
	readonly #options: LocalFacilitatorOptions;
	readonly #settlers = new Map<string, Promise<EvmSettler>>();

	constructor(options: LocalFacilitatorOptions) {
		this.#options = options;
	}

	async verify(payment: SignedPayment): Promise<Verdict> {
		const settler = await this.#settler(payment.network);
		return orUnavailable(() => settler.verify(payment));
	}

	async settle(payment: SignedPayment, onBroadcast: (transaction: string) => Promise<void>): Promise<Settled> {
		const settler = await this.#settler(payment.network);
		return orUnavailable(() => settler.settle(payment, onBroadcast));
	}

	#settler({ id, name }: KnownNetwork): Promise<EvmSettler> {
		const { nodes, key, ...rest } = this.#options;
		const node = nodes.get(id);
		if (node === undefined) throw new FacilitatorUnavailable(`x402.rpcUrl: no node of ${name} is configured`);
		let settler = this.#settlers.get(id);
		if (settler === undefined) {
			settler = import("./evm-settler.ts").then(({ EvmSettler }) => new EvmSettler({ ...rest, ...node, key }));
			this.#settlers.set(id, settler);
		}
		return settler;
	}
}

/** Runs a call, and turns faults of the node or the library into `FacilitatorUnavailable`: they are no verdict. */
async function orUnavailable<T>(call: () => Promise<T>): Promise<T> {
	try {
		return await call();
	} catch (error) {
		if (error instanceof FacilitatorUnavailable) throw error;
		const { shortMessage, message } = error as { readonly shortMessage?: string; readonly message?: string };
		throw new FacilitatorUnavailable(shortMessage ?? String(message).split("\n")[0] ?? "unknown", { cause: error });
	}
}
