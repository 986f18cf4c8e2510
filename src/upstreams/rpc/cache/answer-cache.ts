import type { RpcNetwork } from "../../../catalog/rpc/types.ts";
import type { TimerClock } from "../../../telemetry/timer-clock.ts";
import type { RpcHeads } from "../head-port.ts";
import type { RpcItem } from "../port.ts";
import { calledBlock } from "./called-block.ts";
import { type FinalityProof, FinalityView } from "./finality-view.ts";
import { foundBlock } from "./found-block.ts";
import { LruAnswers } from "./lru-answers.ts";
import { SharedBytes, StreamCopy } from "./stream-copy.ts";
import type { Tap } from "./tapped-stream.ts";

/** The finality_status of Starknet blocks that may still change. A final block has another status. */
const PROVISIONAL = ["ACCEPTED_ON_L2", "PRE_CONFIRMED", "PENDING"];

/** Why a call's result is cached, and for how long. */
type Keep =
	| { readonly kind: "constant"; readonly maxAgeSeconds: number | null }
	| { readonly kind: "block"; readonly block: number }
	| { readonly kind: "found"; readonly member: string };

/** A call whose result may be cached, with the finality at its start. */
export interface CacheableCall {
	readonly key: string;
	readonly network: RpcNetwork;
	readonly keep: Keep;
	readonly proof: FinalityProof;
}

/** Hits and misses of cacheable calls. Counts items. */
export interface CacheCounts {
	hits: number;
	misses: number;
}

/**
 * Caches results that stay true (docs/rpc.md, Cache).
 * These are results of calls that name final blocks by number, objects found by hash once their block is final, and
 * constants.
 * Answers for tags, nulls, errors and blocks above the final block are never cached.
 */
export class AnswerCache {
	readonly #answers: LruAnswers;
	readonly #finality: FinalityView;
	readonly #clock: TimerClock;
	/** The memory for copies of streams that pass through. */
	readonly #copies: SharedBytes;
	readonly counts: CacheCounts = { hits: 0, misses: 0 };

	constructor(heads: RpcHeads, maxBytes: number, clock: TimerClock) {
		this.#answers = new LruAnswers(maxBytes);
		this.#finality = new FinalityView(heads, (network, block) => this.#answers.dropAbove(network, block));
		this.#clock = clock;
		this.#copies = new SharedBytes(maxBytes);
		if (maxBytes > 0) this.#finality.listen();
	}

	get bytes(): number {
		return this.#answers.bytes;
	}

	get entries(): number {
		return this.#answers.entries;
	}

	resize(maxBytes: number): void {
		this.#answers.resize(maxBytes);
		this.#copies.resize(maxBytes);
		if (maxBytes > 0) this.#finality.listen();
		else this.#finality.close();
	}

	/** Returns how the call's result can be cached; null if it cannot. */
	cacheable(network: RpcNetwork, item: RpcItem, key: string): CacheableCall | null {
		if (this.#answers.maxValueBytes === 0) return null;
		const proof = this.#finality.proof(network.slug);
		const keep = keepOf(item, proof.finality?.block ?? null);
		return keep === null ? null : { key, network, keep, proof };
	}

	/** Returns the cached result of an equal call if it is still true; null otherwise. */
	find({ key, network }: CacheableCall): Uint8Array | null {
		const value = this.#answers.get(key, this.#finality.block(network.slug), this.#clock.monotonicMs());
		this.counts[value === null ? "misses" : "hits"]++;
		return value;
	}

	/** Stores an upstream's result if it is proven to stay true. */
	put({ key, network, keep, proof }: CacheableCall, value: Uint8Array, upstream: string | null): void {
		if (value.length > this.#answers.maxValueBytes || isNull(value)) return;
		if (keep.kind === "constant") {
			const expiresAtMs = keep.maxAgeSeconds === null ? null : this.#clock.monotonicMs() + keep.maxAgeSeconds * 1000;
			this.#answers.set(key, { network: network.slug, block: null, expiresAtMs, value });
			return;
		}
		const block = keep.kind === "block" ? keep.block : foundBlock(value, keep.member);
		if (block === null || !this.#finality.holds(proof, network.slug, block, upstream)) return;
		if (network.vm === "starknet" && isProvisional(value)) return;
		this.#answers.set(key, { network: network.slug, block, expiresAtMs: null, value });
	}

	/** Copies a result that passes in pieces, and stores the copy at the end unless it is too large. */
	tap(call: CacheableCall, upstream: string | null): Tap {
		const copy = new StreamCopy(this.#copies, this.#answers.maxValueBytes);
		return {
			piece: (bytes) => copy.add(bytes),
			end: (isWhole) => {
				const value = copy.take();
				if (isWhole && value !== null) this.put(call, value, upstream);
			},
		};
	}

	close(): void {
		this.#finality.close();
	}
}

function keepOf({ method, params }: RpcItem, finalBlock: number | null): Keep | null {
	const rule = method.cache;
	switch (rule.kind) {
		case "constant":
			return rule;
		case "by-block": {
			const block = finalBlock === null ? null : calledBlock(method, params);
			return block === null || finalBlock === null || block > finalBlock ? null : { kind: "block", block };
		}
		case "by-hash":
			return rule.blockNumberAt === null || finalBlock === null ? null : { kind: "found", member: rule.blockNumberAt };
		default:
			return null;
	}
}

function isNull(value: Uint8Array): boolean {
	return value.length === 4 && value[0] === 0x6e;
}

function isProvisional(value: Uint8Array): boolean {
	const bytes = Buffer.from(value.buffer, value.byteOffset, value.length);
	return PROVISIONAL.some((word) => bytes.includes(word));
}
