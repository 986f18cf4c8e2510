/**
 * Who is calling: Bearer keys (wallet sign-in has its place beside them). Keys are known by their sha256 only;
 * this room never sees money and never stores a secret.
 */
export { bearerKey, keyHash } from "./bearer.ts";
export { newApiKey } from "./new-key.ts";
export { checkModelRule, checkRules, type RuleSubject } from "./rules.ts";
