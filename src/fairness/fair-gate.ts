import type { Requester } from "./requester.ts";
import { SharedCapacity } from "./shared-capacity.ts";

export interface FairGateOptions {
	/** Pieces of work under way at once. */
	readonly places: number;
	/** True: while all places are taken, one more is there for a tenant that has nothing under way. */
	readonly reserve: boolean;
	/** Pieces that may wait, of all tenants; each has a share (`SharedCapacity`). */
	readonly maxWaiting: number;
	/** What is thrown where the queue is full, or a tenant has its share of it. */
	overflow(): Error;
}

interface Waiting {
	enter(): void;
	refuse(reason: unknown): void;
}

/**
 * Bounds how much work is under way, with a queue for each tenant. The next place goes to the tenant with the least
 * under way; among equals tenants take turns (round robin). The work of one tenant keeps its order.
 */
export class FairGate {
	readonly #options: FairGateOptions;
	#places: number;
	#reserve: boolean;
	readonly #queue: SharedCapacity;
	/** The tenant that had a turn longest ago first. */
	readonly #waiting = new Map<string, Waiting[]>();
	readonly #underWay = new Map<string, number>();
	#running = 0;

	constructor(options: FairGateOptions) {
		this.#options = options;
		this.#places = options.places;
		this.#reserve = options.reserve;
		this.#queue = new SharedCapacity(options.maxWaiting);
	}

	/** Pieces under way. */
	get running(): number {
		return this.#running;
	}

	/** Pieces that wait. */
	get waiting(): number {
		return this.#queue.used;
	}

	/**
	 * Runs a piece of work when it is the requester's turn.
	 * @throws what `overflow` gives; the reason of the requester's signal, also while it waits; what the work throws
	 */
	async run<T>(requester: Requester, work: () => Promise<T>): Promise<T> {
		requester.signal.throwIfAborted();
		if (!this.#enterNow(requester.tenant)) await this.#turn(requester);
		try {
			requester.signal.throwIfAborted();
			return await work();
		} finally {
			this.#end(requester.tenant);
		}
	}

	/** A place without waiting; null where there is none. The returned function gives it back, once. */
	tryEnter(tenant: string): (() => void) | null {
		return this.#enterNow(tenant) ? this.#leaver(tenant) : null;
	}

	/**
	 * A place when it is the requester's turn, to be given back as that of `tryEnter`.
	 * @throws what `overflow` gives; the reason of the requester's signal, which it has to look at first
	 */
	async enter(requester: Requester): Promise<() => void> {
		if (!this.#enterNow(requester.tenant)) await this.#turn(requester);
		return this.#leaver(requester.tenant);
	}

	/** Takes new bounds; what is under way goes on. */
	resize({ places, reserve }: Pick<FairGateOptions, "places" | "reserve">): void {
		this.#places = places;
		this.#reserve = reserve;
		while (this.#letNextIn());
	}

	/** Refuses all that waits. */
	refuseWaiting(reason: unknown): void {
		const all = [...this.#waiting];
		this.#waiting.clear();
		for (const [tenant, pieces] of all) {
			this.#queue.giveBack(tenant, pieces.length);
			for (const piece of pieces) piece.refuse(reason);
		}
	}

	/** @param ofIdle for a tenant that has nothing under way */
	#hasPlace(ofIdle: boolean): boolean {
		return this.#running < (ofIdle && this.#reserve ? this.#places + 1 : this.#places);
	}

	#enterNow(tenant: string): boolean {
		if (!this.#hasPlace(!this.#underWay.has(tenant))) return false;
		this.#begin(tenant);
		return true;
	}

	#leaver(tenant: string): () => void {
		let isIn = true;
		return () => {
			if (!isIn) return;
			isIn = false;
			this.#end(tenant);
		};
	}

	async #turn({ tenant, signal }: Requester): Promise<void> {
		if (this.#queue.take(tenant, 1) !== "taken") throw this.#options.overflow();
		const { promise, resolve, reject } = Promise.withResolvers<void>();
		const piece: Waiting = { enter: resolve, refuse: reject };
		const pieces = this.#waiting.get(tenant);
		if (pieces === undefined) this.#waiting.set(tenant, [piece]);
		else pieces.push(piece);
		const leave = () => {
			if (this.#remove(tenant, piece)) reject(signal.reason);
		};
		signal.addEventListener("abort", leave, { once: true });
		await promise.finally(() => signal.removeEventListener("abort", leave));
	}

	#begin(tenant: string): void {
		this.#running++;
		this.#underWay.set(tenant, (this.#underWay.get(tenant) ?? 0) + 1);
	}

	#end(tenant: string): void {
		this.#running--;
		const left = (this.#underWay.get(tenant) ?? 0) - 1;
		if (left > 0) this.#underWay.set(tenant, left);
		else this.#underWay.delete(tenant);
		this.#letNextIn();
	}

	/** False where nobody waits who may come in. */
	#letNextIn(): boolean {
		if (this.#waiting.size === 0) return false;
		const next = this.#nextTenant();
		const piece = next === undefined ? undefined : this.#waiting.get(next)?.[0];
		if (next === undefined || piece === undefined) return false;
		this.#remove(next, piece);
		const others = this.#waiting.get(next);
		if (others !== undefined) {
			// Its next turn comes after those of all others.
			this.#waiting.delete(next);
			this.#waiting.set(next, others);
		}
		this.#begin(next);
		piece.enter();
		return true;
	}

	#nextTenant(): string | undefined {
		let chosen: string | undefined;
		let fewest = Number.POSITIVE_INFINITY;
		for (const tenant of this.#waiting.keys()) {
			const underWay = this.#underWay.get(tenant) ?? 0;
			if (underWay >= fewest) continue;
			chosen = tenant;
			fewest = underWay;
			if (underWay === 0) break;
		}
		return this.#hasPlace(fewest === 0) ? chosen : undefined;
	}

	/** False where it does not wait any more. */
	#remove(tenant: string, piece: Waiting): boolean {
		const pieces = this.#waiting.get(tenant);
		const at = pieces?.indexOf(piece) ?? -1;
		if (pieces === undefined || at < 0) return false;
		pieces.splice(at, 1);
		if (pieces.length === 0) this.#waiting.delete(tenant);
		this.#queue.giveBack(tenant, 1);
		return true;
	}
}
