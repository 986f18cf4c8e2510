/** Reads a chain of the Ethereum family, and checks who signed a message. Dependencies are loaded at first use. */
export { type Block, type BlockName, Chain, type ChainOptions } from "./chain.ts";
export { ChainError, ChainRefusedError, WrongChainError } from "./chain-errors.ts";
export { isSignedBy, isSignedByContract, isSignedByKey, type WalletSignature } from "./wallet-signature.ts";
