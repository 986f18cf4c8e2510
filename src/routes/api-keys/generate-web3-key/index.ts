/**
 * /api_keys/generate_web3_key: creates a key for a wallet with a stake whose owner has no key yet. Public: the wallet
 * signs a token that is valid once. All keys of a wallet belong to one account.
 */
import Type from "typebox";
import {
	CreatedKeySchema,
	createdKeyView,
	DescriptionSchema,
	KEY_FIELDS,
	KeyTypeSchema,
	MISNAMED_KEY_FIELDS,
	type RuleNames,
	readKeyFields,
	type Web3KeyService,
} from "../../../access/index.ts";
import type { AddressWindows } from "../../../budgets/index.ts";
import type { Config } from "../../../config/index.ts";
import type { Call } from "../../../server/call.ts";
import { type Endpoint, json, plain } from "../../../server/endpoint.ts";

export interface Web3KeyRouteDeps {
	readonly web3Keys: Web3KeyService;
	readonly addresses: AddressWindows;
	readonly ruleNames: RuleNames;
	readonly limits: () => Config["limits"];
}

const DEFAULT_DESCRIPTION = "Web3 API Key";

const GenerateSchema = Type.Object(
	{
		apiKeyType: KeyTypeSchema,
		address: Type.String({ maxLength: 100, description: "The wallet: 0x and 40 hex digits" }),
		signature: Type.String({
			maxLength: 32_768,
			description: "The signature of the unchanged token, by personal_sign (ERC-191), in hex",
		}),
		token: Type.String({ maxLength: 2_048, description: "The token from GET" }),
		description: Type.Optional(Type.Union([DescriptionSchema, Type.Null()], { description: `Default: ${DEFAULT_DESCRIPTION}` })),
		...KEY_FIELDS,
	},
	{ additionalProperties: false },
);

const success = { success: Type.Literal(true) };
const common = {
	path: "/api_keys/generate_web3_key",
	name: "generate-web3-key",
	tag: "API keys",
	openAi: false,
	callers: ["none"],
	listLimit: false,
} as const;
/** Tokens, and secrets of keys, are for one reader. */
const NO_STORE = { "Cache-Control": "no-store" };

export function web3KeyRoutes({ web3Keys, addresses, ruleNames, limits }: Web3KeyRouteDeps): Endpoint[] {
	const take = (call: Call) => {
		call.rate = addresses.take(call.address, common.name, limits().web3KeysPerMinute);
	};
	return [
		plain({
			...common,
			method: "GET",
			summary: "Get a token that a wallet signs to create a key. It is valid once, for 15 minutes",
			answer: {
				type: "application/json",
				description: "The token",
				schema: Type.Object({ data: Type.Object({ token: Type.String() }), ...success }),
			},
			run: async (_input, call) => {
				take(call);
				return json({ data: { token: await web3Keys.challenge(call.admittedAtMs) }, success: true }, 200, NO_STORE);
			},
		}),
		plain({
			...common,
			method: "POST",
			summary: "Create a key by a wallet's signature, for the wallet's account",
			codes: ["API_ACCESS_DISABLED"],
			body: { schema: GenerateSchema, maxBytes: 1_048_576, keepNulls: true, misnamed: MISNAMED_KEY_FIELDS },
			answer: {
				type: "application/json",
				description: "The key, with its secret",
				schema: Type.Object({ data: CreatedKeySchema, ...success }),
			},
			run: async ({ body }, call) => {
				take(call);
				const nowMs = call.admittedAtMs;
				const { apiKeyType: type, address, signature, token, ...entered } = body;
				const described = { ...entered, description: entered.description ?? DEFAULT_DESCRIPTION };
				const fields = readKeyFields(described, { nowMs, ruleNames });
				const { key, secret } = await web3Keys.create({ type, address, signature, token, fields }, nowMs);
				return json({ data: createdKeyView(key, secret), success: true }, 200, NO_STORE);
			},
		}),
	];
}
