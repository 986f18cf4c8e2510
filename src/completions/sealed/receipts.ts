import { createHash, type Hash } from "node:crypto";
import type { TextModel } from "../../catalog/types.ts";
import { nextTurn } from "../../wire/index.ts";
import type { ChatInput } from "../chat-input.ts";

/** Maximum number of stored receipts; the oldest is dropped first. */
const MAX_RECEIPTS = 10_000;
/** Name of the built-in engine among the upstreams. */
const EMBEDDED = "embedded";

/** What is stored of an answer for requests of its signature; no content. */
export interface StoredReceipt {
	readonly accountId: string;
	readonly modelId: string;
	readonly upstream: string;
	/** The completion's id at the upstream. */
	readonly upstreamId: string;
	/** SHA-256 of the caller's body and of the answer's, as hex; null if the upstream signs. */
	readonly hashes: { readonly request: string; readonly response: string } | null;
}

/** The receipts of recent answers, in the memory of this node. */
export class Receipts {
	readonly #byId = new Map<string, StoredReceipt>();

	/**
	 * Returns a receipt; null for an answer that this node did not give, or has forgotten. The caller must check who owns
	 * it.
	 */
	find(id: string): StoredReceipt | null {
		return this.#byId.get(id) ?? null;
	}

	store(id: string, receipt: StoredReceipt): void {
		this.#byId.delete(id);
		this.#byId.set(id, receipt);
		if (this.#byId.size <= MAX_RECEIPTS) return;
		const [oldest] = this.#byId.keys();
		if (oldest !== undefined) this.#byId.delete(oldest);
	}
}

/** Bytes hashed in one turn of the event loop: some milliseconds. */
const STEP_BYTES = 2 << 20;

/** Returns the SHA-256 of the caller's body as received. */
async function hashOf({ raw, long }: ChatInput): Promise<string> {
	const hash = createHash("sha256");
	await hashInTurns(hash, long.isEmpty ? raw : long.original);
	return hash.digest("hex");
}

async function hashInTurns(hash: Hash, bytes: Uint8Array): Promise<void> {
	for (let offset = 0; offset < bytes.length; offset += STEP_BYTES) {
		if (offset > 0) await nextTurn();
		hash.update(bytes.subarray(offset, offset + STEP_BYTES));
	}
}

/** The receipt of an answer under way. */
export class Receipt {
	readonly #receipts: Receipts;
	readonly #accountId: string;
	readonly #modelId: string;
	readonly #request: string | null;
	readonly #response: Hash = createHash("sha256");
	#ids: { readonly ownId: string; readonly reportedId: string } | null = null;

	/** Creates the receipt for a model whose servers attest. */
	static async of(receipts: Receipts, accountId: string, model: TextModel, input: ChatInput): Promise<Receipt> {
		const isOwn = model.targets.some(({ upstream }) => upstream === EMBEDDED);
		return new Receipt(receipts, accountId, model.id, isOwn ? await hashOf(input) : null);
	}

	private constructor(receipts: Receipts, accountId: string, modelId: string, request: string | null) {
		this.#receipts = receipts;
		this.#accountId = accountId;
		this.#modelId = modelId;
		this.#request = request;
	}

	/** Records the completion's id: ours, and the upstream's. */
	setIds(ownId: string, reportedId: unknown): void {
		this.#ids ??= { ownId, reportedId: typeof reportedId === "string" ? reportedId : ownId };
	}

	/** Adds a sent part of the answer's body to its hash; comments of a stream do not count. */
	wrote(part: string | Uint8Array): void {
		if (this.#request !== null) this.#response.update(part);
	}

	/** Adds the whole body, which may be large. */
	async wroteWhole(body: string | Uint8Array): Promise<void> {
		if (this.#request !== null) await hashInTurns(this.#response, typeof body === "string" ? Buffer.from(body) : body);
	}

	/** Stores the receipt of a complete answer. */
	end(upstream: string | null): void {
		if (this.#ids === null || upstream === null) return;
		const request = upstream === EMBEDDED ? this.#request : null;
		this.#receipts.store(this.#ids.ownId, {
			accountId: this.#accountId,
			modelId: this.#modelId,
			upstream,
			upstreamId: this.#ids.reportedId,
			hashes: request === null ? null : { request, response: this.#response.digest("hex") },
		});
	}
}
