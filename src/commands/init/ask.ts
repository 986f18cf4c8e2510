/** Asks on a terminal until the answer fits. */
import { createInterface, type Interface } from "node:readline/promises";
import { WrongAnswer } from "./answers.ts";

/** The person has left: end of input, or Ctrl-C. */
export class NoInputError extends Error {
	override readonly name = "NobodyThere";
}

export class Questions {
	readonly #lines: Interface = createInterface({ input: process.stdin, output: process.stdout });
	readonly #gone = new AbortController();

	constructor() {
		this.#lines.once("close", () => this.#gone.abort());
		this.#lines.once("SIGINT", () => this.#lines.close());
	}

	/** The answer as `read` takes it; `fallback` where it is empty. Throws `NoInputError`. */
	async ask<T>(question: string, fallback: string, read: (text: string) => T): Promise<T> {
		const shown = `${question}${fallback === "" ? "" : ` [${fallback}]`}: `;
		for (;;) {
			const text = (await this.#line(shown)).trim() || fallback;
			try {
				return read(text);
			} catch (error) {
				if (!(error instanceof WrongAnswer)) throw error;
				process.stdout.write(`  ${error.message}\n`);
			}
		}
	}

	async #line(shown: string): Promise<string> {
		if (this.#gone.signal.aborted) throw new NoInputError();
		try {
			return await this.#lines.question(shown, { signal: this.#gone.signal });
		} catch {
			throw new NoInputError();
		}
	}

	close(): void {
		this.#lines.close();
	}
}
