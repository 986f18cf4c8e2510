interface Running<T> {
	readonly promise: Promise<T>;
	readonly abort: AbortController;
	readonly listeners: Set<() => void>;
	waiters: number;
}

/** Shares one run of work between concurrent callers; the work is aborted when the last of them leaves. */
export class SharedFetches<T> {
	readonly #running = new Map<string, Running<T>>();

	has(name: string): boolean {
		return this.#running.has(name);
	}

	/**
	 * Joins the running work of that name, or starts it.
	 * @param start starts the work; called only if none of that name runs
	 * @param signal ends this caller's wait
	 * @param onProgress called whenever the work reports
	 */
	async join(
		name: string,
		start: (signal: AbortSignal, report: () => void) => Promise<T>,
		signal?: AbortSignal,
		onProgress?: () => void,
	): Promise<T> {
		signal?.throwIfAborted();
		const running = this.#running.get(name) ?? this.#start(name, start);
		running.waiters += 1;
		if (onProgress) running.listeners.add(onProgress);
		let onAbort: (() => void) | undefined;
		const left = new Promise<never>((_, reject) => {
			onAbort = () => reject(signal?.reason);
			signal?.addEventListener("abort", onAbort, { once: true });
		});
		try {
			return await Promise.race([running.promise, left]);
		} finally {
			if (onAbort) signal?.removeEventListener("abort", onAbort);
			if (onProgress) running.listeners.delete(onProgress);
			running.waiters -= 1;
			if (running.waiters === 0) this.#leaveAlone(name, running);
		}
	}

	/** Detaches work without callers, so that a new caller starts again and does not inherit the abort. */
	#leaveAlone(name: string, running: Running<T>): void {
		if (this.#running.get(name) === running) this.#running.delete(name);
		running.abort.abort();
	}

	#start(name: string, start: (signal: AbortSignal, report: () => void) => Promise<T>): Running<T> {
		const abort = new AbortController();
		const listeners = new Set<() => void>();
		const report = () => {
			for (const listener of listeners) listener();
		};
		const promise = start(abort.signal, report);
		const running: Running<T> = { promise, abort, listeners, waiters: 0 };
		this.#running.set(name, running);
		const forget = () => {
			if (this.#running.get(name) === running) this.#running.delete(name);
		};
		promise.then(forget, forget);
		return running;
	}
}
