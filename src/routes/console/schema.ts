/** The schemas of queries and bodies. */
import Type, { type Static } from "typebox";
import { PAGE_FIELDS } from "./page.ts";
import { DaySchema, RANGE_FIELDS } from "./when.ts";

const closed = <T extends Type.TProperties>(properties: T) => Type.Object(properties, { additionalProperties: false });
const optional = (maxLength: number) => Type.Optional(Type.String({ maxLength }));
const search = () => optional(200);
const id = () => Type.Optional(Type.String({ pattern: "^[A-Za-z0-9_:.-]{1,128}$" }));

export const SignInSchema = closed({ key: Type.String({ minLength: 1, maxLength: 200 }) });
export const OverviewSchema = closed({ days: Type.Optional(Type.Integer({ minimum: 1, maximum: 90 })) });
export const AccountsSchema = closed({ ...PAGE_FIELDS, search: search() });
export const KeysSchema = closed({
	...PAGE_FIELDS,
	search: search(),
	accountId: id(),
	state: Type.Optional(Type.Enum(["active", "all"])),
});
export const UsageSchema = closed({
	...RANGE_FIELDS,
	by: Type.Optional(Type.String({ pattern: "^(?:day|model|key|account)(?:,(?:day|model|key|account)){0,2}$" })),
	accountId: id(),
	keyId: id(),
	model: search(),
});
export const RangeSchema = closed(RANGE_FIELDS);
export const SendsSchema = closed({
	...PAGE_FIELDS,
	hash: optional(200),
	network: optional(64),
	keyId: id(),
	since: Type.Optional(DaySchema),
});
export const RefusalsSchema = closed({ ...PAGE_FIELDS, accountId: id() });
export const WalletsSchema = closed({ ...PAGE_FIELDS, search: search() });
export const TopUpsSchema = closed({
	...PAGE_FIELDS,
	state: Type.Optional(Type.Enum(["settling", "unknown", "credited", "failed"])),
	payer: search(),
});
export const LogLevelSchema = closed({ level: Type.Enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]) });

export type AccountsQuery = Static<typeof AccountsSchema>;
export type KeysQuery = Static<typeof KeysSchema>;
export type UsageQuery = Static<typeof UsageSchema>;
export type RangeQuery = Static<typeof RangeSchema>;
export type SendsQuery = Static<typeof SendsSchema>;
export type RefusalsQuery = Static<typeof RefusalsSchema>;
export type WalletsQuery = Static<typeof WalletsSchema>;
export type TopUpsQuery = Static<typeof TopUpsSchema>;
