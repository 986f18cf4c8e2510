/** The chain gave no usable answer. The message contains neither the node's address nor a secret of it. */
export class ChainError extends Error {
	override readonly name: string = "ChainError";
}

/** The node serves another chain than the configured one. */
export class WrongChainError extends ChainError {
	override readonly name = "WrongChainError";

	constructor(expected: number, actual: number) {
		super(`the chain's node answers for chain ${actual}, not for chain ${expected}`);
	}
}

/** The node answered this call with an error; a repeat gets the same answer. */
export class ChainRefusedError extends ChainError {
	override readonly name = "ChainRefusal";
	/** True if the contract itself reverted. */
	readonly reverted: boolean;

	constructor(message: string, reverted: boolean) {
		super(message);
		this.reverted = reverted;
	}
}
