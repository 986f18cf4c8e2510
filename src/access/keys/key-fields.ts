/** The fields of a key that callers set, the same for creation and change (docs/api.md, API keys). */
import Type, { type Static } from "typebox";
import { invalidField } from "../../schema/index.ts";
import { listedText } from "../../schema/listed-text.ts";
import { patternedText } from "../../schema/patterned-text.ts";
import type { KeyLimits, KeyRestrictions } from "../../store/port.ts";
import { readExpiry } from "./expiry.ts";
import { limitText } from "./limit-text.ts";
import { checkRestrictions, type RuleNames } from "./restrictions.ts";

const MAX_LIMIT = 9_999_999_999;
const MAX_DESCRIPTION_CHARACTERS = 256;
const MAX_RULES = 100;

const limit = (unit: string) =>
	Type.Optional(Type.Union([Type.Number({ minimum: 0, maximum: MAX_LIMIT }), Type.Null()], { description: unit }));
const rule = (entry: Type.TString, description: string) =>
	Type.Optional(Type.Union([Type.Array(entry, { minItems: 1, maxItems: MAX_RULES }), Type.Null()], { description }));
const SLUG = "^[a-z0-9-]{1,64}$";

export const KeyTypeSchema = Type.Enum(["INFERENCE", "ADMIN"]);
export const LimitPeriodSchema = Type.Enum(["EPOCH", "MONTH", "LIFETIME"]);

const ConsumptionLimitSchema = Type.Object(
	{ usd: limit("USD, including bundled credit"), diem: limit("Diem"), vcu: limit("Stored, but never counted") },
	{ additionalProperties: false },
);

const RestrictionsSchema = Type.Object(
	{
		models: rule(Type.String({ pattern: "^[^\\u0000-\\u001f]{1,200}$" }), "Ids of models"),
		endpoints: rule(listedText("EndpointName", SLUG), "Names of endpoints"),
		networks: rule(listedText("NetworkName", SLUG), "Slugs of networks"),
		addresses: rule(Type.String({ pattern: "^[0-9A-Fa-f:./]{2,64}$" }), "Source addresses: IP or CIDR"),
	},
	{ additionalProperties: false },
);

const ExpirySchema = patternedText(
	"^([0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,3})?(Z|[+-][0-9]{2}:[0-9]{2}))?)?$",
	"must be a date (2030-01-31), an instant (2030-01-31T12:00:00Z, 2030-01-31T12:00:00+02:00), or empty for never",
);

/** The members of a request that `readKeyFields` reads. */
export const KEY_FIELDS = {
	consumptionLimit: Type.Optional(
		Type.Union([ConsumptionLimitSchema, Type.Null()], { description: "null: no limit. 0: this currency cannot be spent" }),
	),
	limitPeriod: Type.Optional(Type.Union([LimitPeriodSchema, Type.Null()], { description: "Default EPOCH: the UTC day" })),
	expiresAt: Type.Optional(
		Type.Union([ExpirySchema, Type.Null()], {
			description: "2030-01-31, 2030-01-31T12:00:00Z, 2030-01-31T12:00:00+02:00, or empty for never",
		}),
	),
	restrictions: Type.Optional(Type.Union([RestrictionsSchema, Type.Null()], { description: "null: none" })),
} as const;

export const DescriptionSchema = patternedText("^[^\\u0000]*$", "must not contain the character NUL", {
	maxLength: MAX_DESCRIPTION_CHARACTERS,
});

/** Field names that callers often mistake; the error message names the right one. */
export const MISNAMED_KEY_FIELDS = { consumptionLimits: "consumptionLimit" } as const;

const FieldsSchema = Type.Object({ ...KEY_FIELDS, description: Type.Optional(Type.Union([DescriptionSchema, Type.Null()])) });
export type KeyFieldsInput = Static<typeof FieldsSchema>;

/** The fields as the store keeps them. Omitted fields stay omitted. */
export interface ReadKeyFields {
	readonly limits?: Partial<KeyLimits>;
	readonly limitPeriod?: "EPOCH" | "MONTH" | "LIFETIME";
	readonly description?: string;
	readonly expiresAtMs?: number | null;
	readonly restrictions?: Partial<KeyRestrictions> | null;
}

/** What fields are checked against, besides their schema. */
export interface KeyFieldContext {
	/** The caller's time, Unix milliseconds. */
	readonly nowMs: number;
	readonly ruleNames: RuleNames;
}

/**
 * Reads fields that passed their schema.
 * @throws 400
 */
export function readKeyFields(entered: KeyFieldsInput, { nowMs, ruleNames }: KeyFieldContext): ReadKeyFields {
	const { consumptionLimit, limitPeriod, description, expiresAt, restrictions } = entered;
	if (restrictions) checkRestrictions(restrictions, ruleNames);
	return {
		...(consumptionLimit === undefined ? {} : { limits: limitsOf(consumptionLimit) }),
		...(limitPeriod ? { limitPeriod } : {}),
		...(typeof description === "string" ? { description: checkedDescription(description) } : {}),
		...(expiresAt === undefined ? {} : { expiresAtMs: readExpiry(expiresAt, nowMs) }),
		...(restrictions === undefined ? {} : { restrictions }),
	};
}

const NO_LIMITS: KeyLimits = { usd: null, diem: null, vcu: null };

/** null instead of the object clears all three limits. */
function limitsOf(entered: Static<typeof ConsumptionLimitSchema> | null): Partial<KeyLimits> {
	if (entered === null) return NO_LIMITS;
	const limits = Object.entries(entered).map(([unit, value]) => [unit, value === null ? null : limitText(value)] as const);
	return Object.fromEntries(limits);
}

function checkedDescription(text: string): string {
	if ([...text].length > MAX_DESCRIPTION_CHARACTERS)
		throw invalidField(["description"], `must not have more than ${MAX_DESCRIPTION_CHARACTERS} characters`);
	return text.toWellFormed();
}
