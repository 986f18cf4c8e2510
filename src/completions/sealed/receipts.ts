import { createHash, type Hash } from "node:crypto";
import type { TextModel } from "../../catalog/types.ts";
import { nextTurn } from "../../wire/index.ts";
import type { ChatInput } from "../chat-input.ts";

/** Answers that are remembered at most; the oldest goes first. */
const MAX_KEPT = 10_000;
/** The built-in engine among upstreams. */
const EMBEDDED = "embedded";

/** What is kept of an answer, for who asks for its signature: nothing of what was said. */
export interface StoredReceipt {
	readonly accountId: string;
	readonly modelId: string;
	readonly upstream: string;
	/** The completion's id at the upstream. */
	readonly upstreamId: string;
	/** SHA-256 of the caller's body and of the answer's, as hex; null where the upstream signs. */
	readonly hashes: { readonly request: string; readonly response: string } | null;
}

/** Who answered what, in the memory of this node. */
export class Receipts {
	readonly #byId = new Map<string, StoredReceipt>();

	/** null for one that this node did not give, or has forgotten. Whose it is, is for who asks to look at. */
	find(id: string): StoredReceipt | null {
		return this.#byId.get(id) ?? null;
	}

	keep(id: string, receipt: StoredReceipt): void {
		this.#byId.delete(id);
		this.#byId.set(id, receipt);
		if (this.#byId.size <= MAX_KEPT) return;
		const [oldest] = this.#byId.keys();
		if (oldest !== undefined) this.#byId.delete(oldest);
	}
}

/** What is hashed in one turn of the event loop: some milliseconds. */
const STEP_BYTES = 2 << 20;

/** SHA-256 of the caller's body as it came. */
async function hashOf({ raw, long }: ChatInput): Promise<string> {
	const hash = createHash("sha256");
	await hashInTurns(hash, long.isEmpty ? raw : long.original);
	return hash.digest("hex");
}

async function hashInTurns(hash: Hash, bytes: Uint8Array): Promise<void> {
	for (let at = 0; at < bytes.length; at += STEP_BYTES) {
		if (at > 0) await nextTurn();
		hash.update(bytes.subarray(at, at + STEP_BYTES));
	}
}

/** The receipt of an answer that is under way. */
export class Receipt {
	readonly #receipts: Receipts;
	readonly #accountId: string;
	readonly #modelId: string;
	readonly #request: string | null;
	readonly #response: Hash = createHash("sha256");
	#ids: { readonly ours: string; readonly theirs: string } | null = null;

	/** Of a model whose servers attest. */
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

	/** The completion's id, ours and as the upstream told it. */
	named(ours: string, theirs: unknown): void {
		this.#ids ??= { ours, theirs: typeof theirs === "string" ? theirs : ours };
	}

	/** A part of the answer's body that goes out; comments of a stream are none. */
	wrote(part: string | Uint8Array): void {
		if (this.#request !== null) this.#response.update(part);
	}

	/** The whole of it, which may be large. */
	async wroteWhole(body: string | Uint8Array): Promise<void> {
		if (this.#request !== null) await hashInTurns(this.#response, typeof body === "string" ? Buffer.from(body) : body);
	}

	/** The answer is whole. */
	end(upstream: string | null): void {
		if (this.#ids === null || upstream === null) return;
		const request = upstream === EMBEDDED ? this.#request : null;
		this.#receipts.keep(this.#ids.ours, {
			accountId: this.#accountId,
			modelId: this.#modelId,
			upstream,
			upstreamId: this.#ids.theirs,
			hashes: request === null ? null : { request, response: this.#response.digest("hex") },
		});
	}
}
