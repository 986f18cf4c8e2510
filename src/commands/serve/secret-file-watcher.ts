/** Watches the files that hold secrets by polling, because container mounts send no events. */
import { fileState } from "../../config/index.ts";
import { every, type Timers } from "../../telemetry/clock.ts";

const LOOK_EVERY_MS = 2_000;

export class SecretFileWatcher {
	readonly #onChange: () => void;
	readonly #end: () => void;
	#files: readonly string[] = [];
	/** The files' state when they were last read. */
	#loadedState = "";
	/** The files' state at the last poll: it differs from poll to poll while a file is being written. */
	#polledState = "";

	/** @param onChange is called when a file has changed and then stayed the same for one poll */
	constructor(timers: Timers, onChange: () => void) {
		this.#onChange = onChange;
		this.#end = every(timers, LOOK_EVERY_MS, () => this.#look());
	}

	/** Watches these files from now on. `files` maps each to the state in which it was read. */
	watch(files: ReadonlyMap<string, string>): void {
		this.#files = [...files.keys()];
		this.#loadedState = this.#polledState = [...files.values()].join("\n");
	}

	stop(): void {
		this.#end();
	}

	#look(): void {
		if (this.#files.length === 0) return;
		const currentState = this.#files.map(fileState).join("\n");
		const isSettled = currentState === this.#polledState;
		this.#polledState = currentState;
		if (!isSettled || currentState === this.#loadedState) return;
		this.#loadedState = currentState;
		this.#onChange();
	}
}
