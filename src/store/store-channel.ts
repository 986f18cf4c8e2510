/** The way between an event loop and its store thread: a thread of the same process, or the process that owns the store. */
import { systemClock } from "../telemetry/clock.ts";
import { StoreThreadError } from "./store-errors.ts";
import type { FromThread, ToThread } from "./thread-protocol.ts";

export interface StoreChannel {
	send(message: ToThread): void;
	/** Sets who handles messages from now on, and the end of the other side. */
	receive(handle: (message: FromThread) => void, failed: (error: Error) => void): void;
	/** Ends the way, and the thread where it is this process's own. */
	close(): void;
}

/** Starts a store thread in this process. */
export class ThreadChannel implements StoreChannel {
	readonly #thread = new Worker(new URL("./thread.ts", import.meta.url).href, { smol: true, name: "store" });

	constructor() {
		// The clocks must be compared at once, whoever handles the other messages.
		this.#thread.addEventListener("message", ({ data }: MessageEvent<FromThread>) => {
			if (data.type === "clock") this.send({ type: "clock", loopMs: systemClock.monotonicMs() });
		});
	}

	send(message: ToThread): void {
		this.#thread.postMessage(message);
	}

	receive(handle: (message: FromThread) => void, failed: (error: Error) => void): void {
		this.#thread.onmessage = ({ data }: MessageEvent<FromThread>) => handle(data);
		this.#thread.onerror = (event) => failed(new StoreThreadError(event.message));
	}

	close(): void {
		this.#thread.terminate();
	}
}
