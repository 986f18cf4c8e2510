/**
 * Signals that may arrive while the server still starts (it may wait 30 s for its store). Without a handler they would end the
 * process.
 */
const EARLY_SIGNALS = ["SIGHUP", "SIGUSR2"] as const;
type EarlySignal = (typeof EARLY_SIGNALS)[number];

/** Records such signals from the start of the process until handlers are installed. */
export class EarlySignals {
	readonly #received = new Set<NodeJS.Signals>();
	readonly #note = (signal: NodeJS.Signals): void => {
		this.#received.add(signal);
	};

	constructor() {
		for (const signal of EARLY_SIGNALS) process.on(signal, this.#note);
	}

	/** Installs the handlers, and calls each once for a signal that arrived before. */
	answerWith(answers: Readonly<Record<EarlySignal, () => void>>): void {
		for (const signal of EARLY_SIGNALS) {
			process.on(signal, answers[signal]);
			process.off(signal, this.#note);
			if (this.#received.has(signal)) answers[signal]();
		}
	}
}
