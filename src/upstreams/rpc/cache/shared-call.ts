import type { RpcCall } from "../port.ts";

type Waiter = Pick<RpcCall, "signal" | "onSent">;

/** A call to the upstreams that several callers wait for. It is aborted only when the last of them has left. */
export class SharedCall {
	readonly #controller = new AbortController();
	#waiting = 0;
	#over = false;
	#letGo = () => {};
	#sentTo: string | null = null;
	readonly #onSent: ((upstream: string) => void)[] = [];

	get signal(): AbortSignal {
		return this.#controller.signal;
	}

	/** Returns how many callers wait now. */
	get waiting(): number {
		return this.#waiting;
	}

	get abandoned(): boolean {
		return this.#controller.signal.aborted;
	}

	/**
	 * Resolves with the promised value. Rejects with the signal's reason if the signal aborts first.
	 * `take` converts the value for this caller, in the turn in which it arrives and in the order of the callers.
	 */
	wait<T, R>(promise: Promise<T>, { signal, onSent }: Waiter, take: (value: T) => R): Promise<R> {
		if (onSent !== undefined) {
			this.#onSent.push(onSent);
			if (this.#sentTo !== null) onSent(this.#sentTo);
		}
		return new Promise((resolve, reject) => {
			if (signal.aborted) {
				this.#leave(signal.reason);
				reject(signal.reason);
				return;
			}
			this.#waiting++;
			const onAbort = () => {
				this.#waiting--;
				this.#leave(signal.reason);
				reject(signal.reason);
			};
			signal.addEventListener("abort", onAbort, { once: true });
			const settled = (): boolean => {
				signal.removeEventListener("abort", onAbort);
				if (signal.aborted) return false;
				this.#waiting--;
				return true;
			};
			promise.then(
				(value) => {
					if (settled()) resolve(take(value));
				},
				(error) => {
					if (settled()) reject(error);
				},
			);
		});
	}

	/** Lets only this signal abort the call from here on, because the rest of the answer belongs to one caller. */
	handOver(signal: AbortSignal): void {
		const onAbort = () => this.#controller.abort(signal.reason);
		if (signal.aborted) onAbort();
		else signal.addEventListener("abort", onAbort, { once: true });
		this.#letGo = () => signal.removeEventListener("abort", onAbort);
	}

	/** Reports to all present and later callers that the bytes go out to this upstream. */
	sent(upstream: string): void {
		this.#sentTo = upstream;
		for (const onSent of this.#onSent) onSent(upstream);
	}

	/** Ends the call, together with the reading of its stream. A caller that leaves aborts nothing any more. */
	end(): void {
		this.#over = true;
		this.#letGo();
	}

	#leave(reason: unknown): void {
		if (this.#waiting === 0 && !this.#over) this.#controller.abort(reason);
	}
}
