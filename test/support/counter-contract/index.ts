/** A contract with a state, an event and an error with data, for tests of chain clients. */
import contract from "./contract.json" with { type: "json" };

/** The most that `add` takes at once. */
export const ALLOWED = 100n;

/** Compiled from contract.sol; the file names the compiler. */
export const COUNTER_ABI = contract.abi;
export const COUNTER_BYTECODE = contract.bytecode as `0x${string}`;
