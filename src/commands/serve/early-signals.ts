/** What a server may be asked for while it still starts (it may wait for its store for 30 s); unheard it would end it. */
const ASKING = ["SIGHUP", "SIGUSR2"] as const;
type Asking = (typeof ASKING)[number];

/** Notes such signals from the beginning, until somebody answers them. */
export class EarlySignals {
	readonly #came = new Set<NodeJS.Signals>();
	readonly #note = (signal: NodeJS.Signals): void => {
		this.#came.add(signal);
	};

	constructor() {
		for (const signal of ASKING) process.on(signal, this.#note);
	}

	/** From here on they are answered; those that came before are answered now, each once. */
	answerWith(answers: Readonly<Record<Asking, () => void>>): void {
		for (const signal of ASKING) {
			process.on(signal, answers[signal]);
			process.off(signal, this.#note);
			if (this.#came.has(signal)) answers[signal]();
		}
	}
}
