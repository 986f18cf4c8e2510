/** Watches the files that secrets are read from. It looks at them again and again: mounts of containers give no notice. */
import { fileState } from "../../config/index.ts";
import { every, type Timers } from "../../telemetry/clock.ts";

const LOOK_EVERY_MS = 2_000;

export class SecretFileWatcher {
	readonly #onChange: () => void;
	readonly #end: () => void;
	#files: readonly string[] = [];
	/** As they were read last. */
	#read = "";
	/** As they were seen last: a file that is still being written differs from look to look. */
	#seen = "";

	/** @param onChange is called when a file has changed and then stayed the same for one look */
	constructor(timers: Timers, onChange: () => void) {
		this.#onChange = onChange;
		this.#end = every(timers, LOOK_EVERY_MS, () => this.#look());
	}

	/** Watches these files from now on. `files` has the state in which each was read. */
	watch(files: ReadonlyMap<string, string>): void {
		this.#files = [...files.keys()];
		this.#read = this.#seen = [...files.values()].join("\n");
	}

	stop(): void {
		this.#end();
	}

	#look(): void {
		if (this.#files.length === 0) return;
		const now = this.#files.map(fileState).join("\n");
		const isSettled = now === this.#seen;
		this.#seen = now;
		if (!isSettled || now === this.#read) return;
		this.#read = now;
		this.#onChange();
	}
}
