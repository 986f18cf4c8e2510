/** Watches the files that secrets are read from. It looks at them again and again: mounts of containers give no notice. */
import { statSync } from "node:fs";
import { every, type Timers } from "../../telemetry/clock.ts";

const LOOK_EVERY_MS = 2_000;

export class SecretWatch {
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

	/** Watches these files from now on, as they are now. */
	watch(files: readonly string[]): void {
		this.#files = files;
		this.#read = this.#seen = this.#signature();
	}

	stop(): void {
		this.#end();
	}

	#look(): void {
		if (this.#files.length === 0) return;
		const now = this.#signature();
		const isSettled = now === this.#seen;
		this.#seen = now;
		if (!isSettled || now === this.#read) return;
		this.#read = now;
		this.#onChange();
	}

	#signature(): string {
		return this.#files.map(signatureOf).join("\n");
	}
}

function signatureOf(path: string): string {
	try {
		const { ino, mtimeMs, size } = statSync(path);
		return `${ino} ${mtimeMs} ${size}`;
	} catch {
		return "missing";
	}
}
