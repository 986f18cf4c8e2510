/** Asks on a terminal until the answer is valid. */
import { createInterface, type Interface } from "node:readline/promises";
import { WrongAnswer } from "./answers.ts";

/** The input has ended, or the user pressed Ctrl-C. */
export class NoInputError extends Error {
	override readonly name = "NobodyThere";
}

export class Questions {
	readonly #lines: Interface = createInterface({ input: process.stdin, output: process.stdout });
	readonly #inputEnded = new AbortController();

	constructor() {
		this.#lines.once("close", () => this.#inputEnded.abort());
		this.#lines.once("SIGINT", () => this.#lines.close());
	}

	/**
	 * Returns the answer as parsed by `read`; `fallback` if it is empty.
	 * @throws {NoInputError}
	 */
	async ask<T>(question: string, fallback: string, read: (text: string) => T): Promise<T> {
		const prompt = `${question}${fallback === "" ? "" : ` [${fallback}]`}: `;
		for (;;) {
			const text = (await this.#line(prompt)).trim() || fallback;
			try {
				return read(text);
			} catch (error) {
				if (!(error instanceof WrongAnswer)) throw error;
				process.stdout.write(`  ${error.message}\n`);
			}
		}
	}

	async #line(prompt: string): Promise<string> {
		if (this.#inputEnded.signal.aborted) throw new NoInputError();
		try {
			return await this.#lines.question(prompt, { signal: this.#inputEnded.signal });
		} catch {
			throw new NoInputError();
		}
	}

	close(): void {
		this.#lines.close();
	}
}
