/**
 * Identifies callers: Bearer keys and wallet sign-in. It also manages the keys of an account for their owner, and accounts for
 * the operator. Keys are stored only as sha256; this module holds no money (the store moves it) and stores no secrets.
 */
export { type AccountPlace, AccountService } from "./accounts/account-service.ts";
export {
	AccountSchema,
	accountView,
	BookedSchema,
	entryView,
	MoneyEntrySchema,
	moneyEntryView,
	RefundedSchema,
	refundedView,
	TierSchema,
} from "./accounts/account-view.ts";
export { bareKey, bearerKey, keyHash } from "./bearer.ts";
export { type ActiveSession, ConsoleSessions } from "./console/console-sessions.ts";
export { generateSecretKey } from "./keys/generate-key.ts";
export {
	DescriptionSchema,
	KEY_FIELDS,
	type KeyFieldContext,
	type KeyFieldsInput,
	KeyTypeSchema,
	MISNAMED_KEY_FIELDS,
	type ReadKeyFields,
	readKeyFields,
} from "./keys/key-fields.ts";
export { KeyLimitSchema, keyLimitsView, spendableNano } from "./keys/key-limits-view.ts";
export { KeyService } from "./keys/key-service.ts";
export {
	CreatedKeySchema,
	createdKeyView,
	KeySchema,
	KeyWithUsageSchema,
	keyView,
	keyWithUsageView,
} from "./keys/key-view.ts";
export type { RuleNames } from "./keys/restrictions.ts";
export { checkModelRule, checkNetworkRule, checkRules, mayUseModel, type Right, type RuleSubject } from "./rules.ts";
export { checkStaking, createStaking, type Staking, type StakingCheck } from "./staking/index.ts";
export { type OrphanedVoice, UpstreamVoiceRegistry } from "./voices/upstream-voice-registry.ts";
export { type StoredVoice, VoiceService } from "./voices/voice-service.ts";
export {
	addressOfIdentity,
	checkOwnWallet,
	contractNode,
	identityOfAddress,
	type SignInChallenge,
	signInOrigins,
	WALLET_ADDRESS,
	WalletSignIn,
} from "./wallet/index.ts";
export { Web3KeyService } from "./web3-keys/web3-key-service.ts";
