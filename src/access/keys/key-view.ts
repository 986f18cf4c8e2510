/** The views of keys in the API (docs/api.md, API keys). */

import Type from "typebox";
import { formatNano } from "../../ledger/nano.ts";
import { closed } from "../../schema/closed.ts";
import { named } from "../../schema/named-schema.ts";
import type { KeyUsage, KeyWithUsage } from "../../store/admin/key-usage.ts";
import type { ApiKey, KeyLimits } from "../../store/port.ts";
import { amount, instant, isoTime, nullable } from "../view-fields.ts";
import { KeyTypeSchema, LimitPeriodSchema } from "./key-fields.ts";

const limits = () => closed({ usd: nullable(Type.Number()), diem: nullable(Type.Number()), vcu: nullable(Type.Number()) });
const rules = () => nullable(Type.Array(Type.String()));
const restrictions = () => closed({ models: rules(), endpoints: rules(), networks: rules(), addresses: rules() });

const KEY = {
	id: Type.String({ format: "uuid" }),
	apiKeyType: KeyTypeSchema,
	consumptionLimits: limits(),
	limitPeriod: LimitPeriodSchema,
	description: Type.String(),
	createdAt: instant(),
	lastUsedAt: nullable(instant()),
	expiresAt: nullable(instant()),
	last6Chars: Type.String({ minLength: 6, maxLength: 6 }),
	restrictions: Type.Optional(restrictions()),
};

/** A key without its usage: the answer to a change. */
export const KeySchema = named("ApiKey", closed(KEY));

export const KeyWithUsageSchema = named(
	"ApiKeyWithUsage",
	closed({
		...KEY,
		usage: closed({ trailingSevenDays: closed({ usd: amount(), vcu: amount(), diem: amount() }) }),
		currentPeriodUsage: Type.Optional(closed({ usd: amount(), diem: amount() })),
	}),
);

export const CreatedKeySchema = named(
	"CreatedApiKey",
	closed({
		apiKey: Type.String({ description: "The secret, shown only once" }),
		apiKeyType: KeyTypeSchema,
		consumptionLimit: limits(),
		limitPeriod: LimitPeriodSchema,
		description: Type.String(),
		expiresAt: nullable(instant()),
		id: Type.String({ format: "uuid" }),
		restrictions: Type.Optional(restrictions()),
	}),
);

export function keyView(key: ApiKey) {
	return {
		id: key.id,
		apiKeyType: key.type,
		consumptionLimits: limitNumbers(key.limits),
		limitPeriod: key.limitPeriod,
		description: key.description,
		createdAt: isoTime(key.createdAtMs),
		lastUsedAt: timeOrNull(key.lastUsedAtMs),
		expiresAt: timeOrNull(key.expiresAtMs),
		last6Chars: key.last6,
		...(key.restrictions === null ? {} : { restrictions: key.restrictions }),
	};
}

export function keyWithUsageView({ key, trailingSevenDays, currentPeriod }: KeyWithUsage) {
	return {
		...keyView(key),
		usage: { trailingSevenDays: { ...usageAmounts(trailingSevenDays), vcu: formatNano(0) } },
		...(currentPeriod === null ? {} : { currentPeriodUsage: usageAmounts(currentPeriod) }),
	};
}

/** Returns the answer that shows a new key's secret. */
export function createdKeyView(key: ApiKey, secret: string) {
	return {
		apiKey: secret,
		apiKeyType: key.type,
		consumptionLimit: limitNumbers(key.limits),
		limitPeriod: key.limitPeriod,
		description: key.description,
		expiresAt: timeOrNull(key.expiresAtMs),
		id: key.id,
		...(key.restrictions === null ? {} : { restrictions: key.restrictions }),
	};
}

function usageAmounts(usage: KeyUsage) {
	return { usd: formatNano(usage.usd), diem: formatNano(usage.diem) };
}

function limitNumbers(entered: KeyLimits) {
	return { usd: numberOf(entered.usd), diem: numberOf(entered.diem), vcu: numberOf(entered.vcu) };
}

function numberOf(text: string | null): number | null {
	return text === null ? null : Number(text);
}

function timeOrNull(ms: number | null): string | null {
	return ms === null ? null : isoTime(ms);
}
