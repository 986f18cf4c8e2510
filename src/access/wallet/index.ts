/**
 * Signs wallets in (docs/wallets.md): reads the header, checks it, and returns the wallet. It never creates an account, and has
 * no part in money.
 */
export { contractNode } from "./contract-node.ts";
export { checkOwnWallet } from "./own-wallet.ts";
export type { SignInChallenge } from "./sign-in-challenge.ts";
export { signInOrigins } from "./sign-in-origins.ts";
export type { SignedInWallet } from "./verified-sign-ins.ts";
export { addressOfIdentity, identityOfAddress, WALLET_ADDRESS } from "./wallet-address.ts";
export { WalletSignIn, type WalletSignInDeps } from "./wallet-sign-in.ts";
