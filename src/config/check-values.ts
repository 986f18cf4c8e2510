/** Checks values beyond the validator: names of records, prices below the smallest unit, integers without exact arithmetic. */
import { ConfigError } from "./config-error.ts";
import { HTTP_ADDRESS, LEAST_KEYWORD, PATTERN_WORDS, POSTGRES_ADDRESS } from "./schema-types.ts";
import { type SettingPlaces, shownPath } from "./setting-places.ts";
import { isStoreAddress } from "./store-address.ts";

/** Above it integers are not exact. */
const MAX_NUMBER = Number.MAX_SAFE_INTEGER;

const POSTGRES = new RegExp(POSTGRES_ADDRESS);
const STORE_ADDRESS_WORDS =
	"an address like postgres://user:password@host1:5432,host2:5432/database, where target_session_attrs is read-write or primary";

/** A schema with the names that its records accept; `names` describes them in words. */
export interface NamedSchema {
	readonly properties?: Readonly<Record<string, NamedSchema>>;
	readonly patternProperties?: Readonly<Record<string, NamedSchema>>;
	readonly items?: NamedSchema;
	readonly pattern?: string;
	readonly names?: string;
	readonly [LEAST_KEYWORD]?: number;
}

/** Refuses a value that should be a mapping, and an operator's name that the schema's record does not accept. */
export function checkNames(schema: NamedSchema, value: unknown, at: readonly string[], places: SettingPlaces): void {
	const [pattern, ofRecord] = Object.entries(schema.patternProperties ?? {})[0] ?? [];
	if (!isMapping(value)) {
		// Defaults cannot be filled into another type.
		if (ofRecord !== undefined && value !== null) throw new ConfigError(`${places.of(shownPath(at))}: must be object`);
		return;
	}
	for (const [key, item] of Object.entries(value)) {
		const inner = [...at, key];
		if (pattern !== undefined && !new RegExp(pattern).test(key))
			throw new ConfigError(`${places.of(shownPath(inner))}: expected ${schema.names ?? `a name that matches ${pattern}`}`);
		const next = ofRecord ?? memberOf(schema, key);
		if (next !== undefined) checkNames(next, item, inner, places);
	}
}

/** Refuses prices that would be charged as 0, integers that are not exact, and invalid addresses. */
export function checkValues(schema: NamedSchema, value: unknown, at: readonly (string | number)[], places: SettingPlaces): void {
	const expected = expectedInstead(schema, value);
	if (expected !== undefined) throw new ConfigError(`${places.of(shownPath(at))}: expected ${expected}`);
	if (Array.isArray(value)) {
		for (const [index, item] of value.entries()) if (schema.items) checkValues(schema.items, item, [...at, index], places);
		return;
	}
	if (!isMapping(value)) return;
	const ofRecord = Object.values(schema.patternProperties ?? {})[0];
	for (const [key, item] of Object.entries(value)) {
		const next = ofRecord ?? memberOf(schema, key);
		if (next !== undefined) checkValues(next, item, [...at, key], places);
	}
}

function expectedInstead(schema: NamedSchema, value: unknown): string | undefined {
	if (typeof value === "string") {
		if (schema.pattern === HTTP_ADDRESS && !URL.canParse(value)) return PATTERN_WORDS[HTTP_ADDRESS];
		return schema.pattern === POSTGRES_ADDRESS && POSTGRES.test(value) && !isStoreAddress(value)
			? STORE_ADDRESS_WORDS
			: undefined;
	}
	if (typeof value !== "number") return undefined;
	const least = schema[LEAST_KEYWORD];
	if (least !== undefined && value > 0 && value < least)
		return `0, or at least ${least.toFixed(9).replace(/0+$/, "")}: less is charged as nothing`;
	return Math.abs(value) > MAX_NUMBER ? `at most ${MAX_NUMBER}` : undefined;
}

function isMapping(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function memberOf({ properties = {} }: NamedSchema, key: string): NamedSchema | undefined {
	return Object.hasOwn(properties, key) ? properties[key] : undefined;
}
