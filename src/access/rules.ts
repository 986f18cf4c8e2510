import type { Caller } from "../budgets/port.ts";
import { ApiError } from "../errors/index.ts";

/** The right that a route requires: an ADMIN key, or one of the operator's account. */
export type Right = "ADMIN" | "OPERATOR";

/** What the rules of a key check in a request. `address` is called only if a rule needs it. */
export interface RuleSubject {
	readonly endpoint: string;
	readonly right: Right | undefined;
	address(): string;
	inList(address: string, list: readonly string[]): boolean;
}

/**
 * Checks the account, key type, endpoint and address rules (docs/api.md). The key's model rule is checked later, when the model
 * is known.
 * @throws API_ACCESS_DISABLED or UNAUTHORIZED, naming the rule
 */
export function checkRules(caller: Caller, subject: RuleSubject): void {
	if (caller.account.disabled) throw new ApiError("API_ACCESS_DISABLED");
	if (subject.right !== undefined && caller.key.type !== "ADMIN")
		throw new ApiError("UNAUTHORIZED", { message: "This route needs an ADMIN key; this is an INFERENCE key" });
	if (subject.right === "OPERATOR" && !caller.account.operator)
		throw new ApiError("UNAUTHORIZED", {
			message: "This route is the operator's: it needs an ADMIN key of the operator's account",
		});
	const { restrictions } = caller.key;
	if (restrictions === null) return;
	if (restrictions.endpoints !== null && !restrictions.endpoints.includes(subject.endpoint))
		throw new ApiError("UNAUTHORIZED", {
			message: `This key is restricted to the endpoints ${restrictions.endpoints.join(", ")}; this is ${subject.endpoint}`,
		});
	if (restrictions.addresses !== null && !subject.inList(subject.address(), restrictions.addresses))
		throw new ApiError("UNAUTHORIZED", { message: "This key is restricted to other source addresses (rule: addresses)" });
}

/** Returns true if the key has no model rule or its rule names the model. */
export function mayUseModel(caller: Caller, modelId: string): boolean {
	return caller.key.restrictions?.models?.includes(modelId) ?? true;
}

/**
 * Checks the key's model rule.
 * @throws UNAUTHORIZED for a model that its list does not name
 */
export function checkModelRule(caller: Caller, modelId: string): void {
	if (mayUseModel(caller, modelId)) return;
	const models = caller.key.restrictions?.models ?? [];
	throw new ApiError("UNAUTHORIZED", {
		message: `This key is restricted to the models ${models.join(", ")} (rule: models)`,
		param: "model",
	});
}

/**
 * Checks the key's network rule.
 * @throws UNAUTHORIZED for a chain that its list does not name
 */
export function checkNetworkRule(caller: Caller, network: string): void {
	const networks = caller.key.restrictions?.networks ?? null;
	if (networks !== null && !networks.includes(network))
		throw new ApiError("UNAUTHORIZED", {
			message: `This key is restricted to the networks ${networks.join(", ")} (rule: networks)`,
		});
}
