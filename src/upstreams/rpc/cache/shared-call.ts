import type { RpcCall } from "../port.ts";

type Waiter = Pick<RpcCall, "signal" | "onSent">;

/** A call to the upstreams that several wait for. It is aborted when the last of them has left, not before. */
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

	/** How many wait now. */
	get waiting(): number {
		return this.#waiting;
	}

	get abandoned(): boolean {
		return this.#controller.signal.aborted;
	}

	/**
	 * What is awaited, unless the signal aborts before: then it rejects with the signal's reason. `take` makes of the value
	 * what the waiter gets, in the turn in which it comes and in the order in which the waiters came.
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

	/** From here on it is aborted with this signal alone: what is left of it is one waiter's. */
	handOver(signal: AbortSignal): void {
		const onAbort = () => this.#controller.abort(signal.reason);
		if (signal.aborted) onAbort();
		else signal.addEventListener("abort", onAbort, { once: true });
		this.#letGo = () => signal.removeEventListener("abort", onAbort);
	}

	/** The bytes go out to this upstream: all who wait are told, and those who come later. */
	sent(upstream: string): void {
		this.#sentTo = upstream;
		for (const onSent of this.#onSent) onSent(upstream);
	}

	/** The call has ended, with what is read of its stream: leaving aborts nothing any more. */
	end(): void {
		this.#over = true;
		this.#letGo();
	}

	#leave(reason: unknown): void {
		if (this.#waiting === 0 && !this.#over) this.#controller.abort(reason);
	}
}
