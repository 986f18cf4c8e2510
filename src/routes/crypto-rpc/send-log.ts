import { ApiError } from "../../errors/index.ts";
import { RpcCallError, type RpcItem, type RpcOutcome } from "../../upstreams/rpc/port.ts";
import { unknownNote } from "./idempotency.ts";
import type { RpcRunDeps } from "./run-deps.ts";
import { findSends, type Send, sendEnd, sendRows } from "./sends.ts";

/** The signal of work that continues when its caller leaves. */
export const NEVER_ABORTS: AbortSignal = new AbortController().signal;

/**
 * The sends of one request. They are audited before they go out, and again once their outcome is known. If it stays
 * unknown, a note makes a retry with the same idempotency key query the chain before it sends again.
 */
export class SendLog {
	readonly #of: RpcRunDeps;
	readonly #none: boolean;
	#sends: readonly Send[] = [];
	/** Positions in the request of the items to send. */
	#places: readonly number[] = [];

	constructor(of: RpcRunDeps) {
		this.#of = of;
		this.#none = of.items.every((item) => item.method.send === null);
	}

	get hasSends(): boolean {
		return !this.#none;
	}

	/**
	 * Hashes the sends and writes their rows. Under an idempotency key it also writes the hashes that a retry looks up if
	 * this process dies. Durable when it resolves.
	 */
	async begin(): Promise<void> {
		if (this.#none) return;
		const { items, call, caller, network, deps, keyed } = this.#of;
		this.#sends = await findSends(items);
		const audited = this.#sends.filter((send) => send.audited);
		const foreseen = audited.length > 0 ? keyed?.ticket.foresee(this.#noteOf(audited)) : undefined;
		await Promise.all([deps.sends.begin(sendRows(audited, call.requestId, caller, network)), foreseen]);
	}

	/**
	 * Returns the item with its hash on the chain, and whether an earlier request under the same key may have sent it: so
	 * the pool distinguishes our own earlier attempt from a stranger's.
	 */
	withHash(item: RpcItem, index: number): RpcItem {
		const send = this.#sendAt(index);
		if (send === undefined) return item;
		return { ...item, txHash: send.hashes?.txHash ?? null, mayBeAccepted: this.#of.keyed?.unknownSends.has(index) ?? false };
	}

	/** Records the items that are sent now. */
	forwarding(places: readonly number[]): void {
		this.#places = places;
	}

	/**
	 * Returns, by position, the answers to sends that an earlier attempt under the same key made without learning their
	 * outcome, and which the chain has.
	 * @throws ApiError REQUEST_TIMEOUT if no upstream knows
	 */
	async sentBefore(): Promise<ReadonlyMap<number, RpcOutcome>> {
		const { keyed, network, call, deps } = this.#of;
		const known = new Map<number, RpcOutcome>();
		const unknownSends = [...(keyed?.unknownSends ?? [])];
		this.forwarding(unknownSends.map(([index]) => index));
		for (const [index, txHash] of unknownSends) {
			if (txHash === null) continue;
			const status = await deps.upstreams.lookUp(network, txHash, call.requestId, NEVER_ABORTS);
			if (status === "unreachable")
				throw new RpcCallError(
					"REQUEST_TIMEOUT",
					{ message: "No upstream could say whether an earlier try was taken" },
					this.#places.map((_, place) => place),
				);
			if (status === "found") known.set(index, { kind: "result", value: Buffer.from(JSON.stringify(txHash)) });
		}
		return known;
	}

	/** Returns true if it is unknown whether a send was accepted. */
	anyUnknown(outcomes: readonly RpcOutcome[]): boolean {
		return this.#sends.some((send) => outcomes[send.index]?.kind === "missing");
	}

	/** Records the outcomes in the audit after the post, and leaves unknown ones to a retry. */
	async ended(outcomes: readonly RpcOutcome[]): Promise<void> {
		const unknown: number[] = [];
		for (const send of this.#sends) {
			const outcome = outcomes[send.index] ?? { kind: "missing" };
			if (outcome.kind === "missing") unknown.push(send.index);
			this.#tell(send, sendEnd(send, outcome));
		}
		await this.#leave(unknown);
	}

	/**
	 * Returns the error of a failed call with the known state of its sends. Records that state in the audit and for a
	 * retry.
	 */
	async failed(error: unknown): Promise<unknown> {
		if (this.#sends.length === 0) return error;
		const places = error instanceof RpcCallError ? error.unknownSends : [];
		const unknown = places.flatMap((place) => this.#places[place] ?? []);
		const code = error instanceof ApiError ? error.code : "UNKNOWN_ERROR";
		for (const send of this.#sends) this.#tell(send, { outcome: unknown.includes(send.index) ? "unknown" : code, txHash: null });
		await this.#leave(unknown);
		return error instanceof ApiError && unknown.length > 0 ? this.#withHashes(error, unknown) : error;
	}

	/** Adds to the error the hashes to look up, and the safe next step. */
	#withHashes(error: ApiError, unknown: readonly number[]): ApiError {
		const hashes = unknown.flatMap((index) => this.#sendAt(index)?.hashes?.txHash ?? []);
		const named = hashes.length > 0 ? ` (${hashes.join(", ")})` : "";
		return new ApiError(error.code, {
			...error.options,
			message: `${error.message}: outcome unknown; send the same bytes again${named}`,
			...(hashes.length > 0 ? { extra: { ...error.options.extra, transactionHashes: hashes } } : {}),
			cause: error,
		});
	}

	async #leave(unknown: readonly number[]): Promise<void> {
		if (unknown.length === 0 || this.#of.keyed === null) return;
		await this.#of.keyed.ticket.keepUnknown(this.#noteOf(unknown.flatMap((index) => this.#sendAt(index) ?? [])));
	}

	#noteOf(sends: readonly Send[]): string {
		return unknownNote(new Map(sends.map(({ index, hashes }) => [index, hashes?.txHash ?? null])));
	}

	#tell(send: Send, { outcome, txHash }: { readonly outcome: string; readonly txHash: string | null }): void {
		if (send.audited) this.#of.deps.sends.end(this.#of.call.requestId, send.index, outcome, txHash);
	}

	#sendAt(index: number): Send | undefined {
		return this.#sends.find((send) => send.index === index);
	}
}
