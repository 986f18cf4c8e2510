/** A chain of the Ethereum family as it is read, and who signed a message. What it needs is loaded at first use. */
export { type Block, type BlockName, Chain, type ChainOptions } from "./chain.ts";
export { ChainError, ChainRefusedError, WrongChainError } from "./chain-errors.ts";
export { isSignedBy, isSignedByContract, isSignedByKey, type WalletSignature } from "./wallet-signature.ts";
