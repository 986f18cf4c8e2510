/** The workers of one server, as each of them sees the others. */
export interface WorkerPeers {
	/** Sets how this worker answers a question. The answer must survive a structured clone. */
	answer(question: string, handler: (input: string) => unknown): void;
	/** Returns the answers of all workers that answer, this one included, in the order of their numbers. */
	gather(question: string, input?: string): Promise<readonly WorkerAnswer[]>;
}

export interface WorkerAnswer {
	readonly worker: number;
	readonly answer: unknown;
}
