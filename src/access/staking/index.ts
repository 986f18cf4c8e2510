/**
 * Stakes of accounts. A day's stakes are those at the day's first block, read by one node for all. One stake is paid once a
 * day, even if it moves between wallets. Stakes are not read at first use.
 */
export type { Stakes } from "./port.ts";
export type { StakeReader, StakeReadOutcome } from "./stake-reader.ts";
export { checkStaking, createStaking, type Staking, type StakingCheck } from "./staking.ts";
