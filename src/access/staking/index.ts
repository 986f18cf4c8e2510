/**
 * What accounts have staked. Promises: a day's stakes are those at the day's first block, read there by one node for
 * all; one stake is paid once a day, wherever it is moved. Never reads a stake at first use.
 */
export type { Stakes } from "./port.ts";
export type { StakeReader, StakeReadOutcome } from "./stake-reader.ts";
export { checkStaking, createStaking, type Staking, type StakingCheck } from "./staking.ts";
