/** The chain gave no answer that can be used. The message holds neither the node's address nor a secret of it. */
export class ChainError extends Error {
	override readonly name: string = "ChainError";
}

/** The node serves another chain than the configured one. */
export class WrongChainError extends ChainError {
	override readonly name = "WrongChainError";

	constructor(expected: number, found: number) {
		super(`the chain's node answers for chain ${found}, not for chain ${expected}`);
	}
}

/** The node answered this question with an error: asking it again gets the same answer. */
export class ChainRefusedError extends ChainError {
	override readonly name = "ChainRefusal";
	/** True where the contract itself reverted. */
	readonly reverted: boolean;

	constructor(message: string, reverted: boolean) {
		super(message);
		this.reverted = reverted;
	}
}
