/**
 * Simulated time. Events happen one after the other, each at its instant and those of one instant in the order in which
 * they were planned; what a promise sets off happens before the next event. So a run depends on its seed alone.
 */
import { drainMicrotasks } from "bun:jsc";

interface Planned {
	readonly atMs: number;
	readonly number: number;
	action: (() => void) | null;
}

export class World {
	/** Milliseconds since the run began. */
	nowMs = 0;
	/** Events that happened. */
	events = 0;
	#planned = 0;
	readonly #heap: Planned[] = [];
	#trace = 0x811c9dc5;
	#fault: unknown = null;

	/** Plans an action; the returned function takes it back. */
	at(atMs: number, action: () => void): () => void {
		const event: Planned = { atMs: Math.max(atMs, this.nowMs), number: this.#planned++, action };
		this.#push(event);
		return () => {
			event.action = null;
		};
	}

	/** Notes what happened for `trace`. */
	note(what: number): void {
		this.#trace = Math.imul(this.#trace ^ (what | 0), 0x01000193);
	}

	/** A number for the whole order of events so far: equal runs have equal traces. */
	get trace(): number {
		return this.#trace >>> 0;
	}

	/** Stops the run at once; `run` throws this. */
	fail(fault: unknown): void {
		this.#fault ??= fault ?? new Error("the run failed");
	}

	/**
	 * Lets everything happen up to an instant. Synchronous: nothing of the real world can come between two events. A promise
	 * that is awaited in vain stays pending, as the work of a process that was killed.
	 */
	run(untilMs: number): void {
		for (;;) {
			const event = this.#heap[0];
			if (event === undefined || event.atMs > untilMs) break;
			this.#pop();
			if (event.action === null) continue;
			this.nowMs = event.atMs;
			this.events++;
			this.note(event.number);
			this.note(event.atMs * 1_000);
			event.action();
			drainMicrotasks();
			if (this.#fault !== null) throw this.#fault;
		}
		this.nowMs = Math.max(this.nowMs, untilMs);
	}

	/** Waits, in simulated time, for a promise. */
	settle<T>(promise: Promise<T>, withinMs: number): T {
		let outcome: { value: T } | { error: unknown } | null = null;
		promise.then(
			(value) => {
				outcome = { value };
			},
			(error: unknown) => {
				outcome = { error };
			},
		);
		drainMicrotasks();
		const deadline = this.nowMs + withinMs;
		while (outcome === null && this.nowMs < deadline) this.run(Math.min(deadline, this.#heap[0]?.atMs ?? deadline));
		const settled = outcome as { value: T } | { error: unknown } | null;
		if (settled === null) throw new Error(`not settled within ${withinMs} ms of simulated time`);
		if ("error" in settled) throw settled.error;
		return settled.value;
	}

	#push(event: Planned): void {
		const heap = this.#heap;
		let index = heap.length;
		heap.push(event);
		while (index > 0) {
			const parent = (index - 1) >> 1;
			const above = heap[parent];
			if (above === undefined || before(above, event)) break;
			heap[index] = above;
			index = parent;
		}
		heap[index] = event;
	}

	#pop(): void {
		const heap = this.#heap;
		const last = heap.pop();
		if (last === undefined || heap.length === 0) return;
		let index = 0;
		for (;;) {
			let child = 2 * index + 1;
			let below = heap[child];
			if (below === undefined) break;
			const right = heap[child + 1];
			if (right !== undefined && before(right, below)) {
				child++;
				below = right;
			}
			if (before(last, below)) break;
			heap[index] = below;
			index = child;
		}
		heap[index] = last;
	}
}

function before(a: Planned, b: Planned): boolean {
	return a.atMs < b.atMs || (a.atMs === b.atMs && a.number < b.number);
}
