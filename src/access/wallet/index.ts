/**
 * Wallets that sign their requests in (docs/wallets.md): reads the header, checks it, and says which wallet it is. Never
 * makes an account, and knows nothing of money.
 */
export { contractNode } from "./contract-node.ts";
export { checkOwnWallet } from "./own-wallet.ts";
export type { SignInChallenge } from "./sign-in-challenge.ts";
export { signInOrigins } from "./sign-in-origins.ts";
export type { SignedInWallet } from "./signed-in-wallet.ts";
export { addressOfIdentity, identityOfAddress, WALLET_ADDRESS } from "./wallet-address.ts";
export { WalletSignIn, type WalletSignInDeps } from "./wallet-sign-in.ts";
