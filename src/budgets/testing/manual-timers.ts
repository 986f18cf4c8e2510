import type { Timers } from "../../telemetry/clock.ts";
import { turns } from "./test-node.ts";

/** Timers that the test fires. */
export class ManualTimers implements Timers {
	#actions: (() => void)[] = [];

	after(_delayMs: number, action: () => void): () => void {
		this.#actions.push(action);
		return () => {
			this.#actions = this.#actions.filter((other) => other !== action);
		};
	}

	async fire(): Promise<void> {
		for (const action of this.#actions.splice(0)) action();
		await turns();
	}
}
