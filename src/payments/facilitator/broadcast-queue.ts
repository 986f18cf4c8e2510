import { randomUUID } from "node:crypto";
import type { StorePort } from "../../store/port.ts";
import { type Clock, sleep, type Timers } from "../../telemetry/clock.ts";
import { FacilitatorUnavailable } from "./port.ts";

export interface BroadcastQueueDeps {
	readonly store: Pick<StorePort, "admin" | "shared">;
	readonly clock: Clock;
	readonly timers: Timers;
}

/** How long a dead node keeps others from sending. */
const TERM_MS = 15_000;
const PATIENCE_MS = 20_000;
const ASK_AGAIN_MS = 50;

/**
 * Orders the sends of one key: fetching the next nonce and sending with it is one step. Nodes that share the key take
 * turns through the store.
 */
export class BroadcastQueue {
	readonly #deps: BroadcastQueueDeps;
	/** The end of the last send, by chain and address. */
	readonly #last = new Map<string, Promise<void>>();

	constructor(deps: BroadcastQueueDeps) {
		this.#deps = deps;
	}

	/** Runs `send` in its turn. Throws what it throws, and `FacilitatorUnavailable` where no turn comes. */
	async inTurn<T>(name: string, send: () => Promise<T>): Promise<T> {
		const before = this.#last.get(name) ?? Promise.resolve();
		let end = (): void => {};
		const ended = new Promise<void>((resolve) => {
			end = resolve;
		});
		const ownEnd = before.then(() => ended);
		this.#last.set(name, ownEnd);
		try {
			await before;
			return await (this.#deps.store.shared ? this.#shared(name, send) : send());
		} finally {
			end();
			if (this.#last.get(name) === ownEnd) this.#last.delete(name);
		}
	}

	async #shared<T>(name: string, send: () => Promise<T>): Promise<T> {
		const { store, clock, timers } = this.#deps;
		const turn = { name, holder: randomUUID() };
		const deadline = clock.monotonicMs() + PATIENCE_MS;
		while (!(await store.admin("takeBroadcastTurn", { ...turn, termMs: TERM_MS }))) {
			if (clock.monotonicMs() > deadline) throw new FacilitatorUnavailable("other servers send with this key all the time");
			await sleep(timers, ASK_AGAIN_MS);
		}
		try {
			return await send();
		} finally {
			// If the store is unreachable, the turn expires by itself.
			await store.admin("endBroadcastTurn", turn).catch(() => undefined);
		}
	}
}
