import type { TSchema } from "typebox";
import { invalidField } from "../schema/index.ts";
import { documentStart, KnownMembers } from "../wire/index.ts";

/** The parts of a JSON schema that name members. */
interface NamingSchema {
	readonly type?: string;
	readonly properties?: Readonly<Record<string, NamingSchema>>;
	readonly items?: NamingSchema;
	readonly anyOf?: readonly NamingSchema[];
	readonly const?: unknown;
	readonly enum?: unknown;
}

/** The names of members that these schemas have, at each place. Where one of them takes any value, the place is free. */
export function knownMembersOf(...schemas: readonly TSchema[]): KnownMembers {
	const known = new KnownMembers();
	for (const schema of schemas) addNames(known, schema as NamingSchema);
	return known;
}

function addNames(place: KnownMembers, schema: NamingSchema): void {
	for (const branch of schema.anyOf ?? []) addNames(place, branch);
	for (const [name, value] of Object.entries(schema.properties ?? {})) addNames(place.member(name), value);
	if (schema.items !== undefined) addNames(place.elements(), schema.items);
	const isAny =
		schema.type === undefined && schema.anyOf === undefined && schema.const === undefined && schema.enum === undefined;
	if (isAny) place.setFree();
}

/**
 * Refuses a body in which a known member stands in another spelling, since some servers read names without case, or
 * stands twice below the top level, since servers differ on which one counts (docs/chat.md). `json` was parsed before.
 * @throws ApiError INVALID_REQUEST that names the member
 */
export function refuseAmbiguousMembers(known: KnownMembers, json: Uint8Array): void {
	const found = known.ambiguousIn(json, documentStart(json));
	if (found === null) return;
	const repeated = found.path.at(-1) === found.known;
	throw repeated
		? invalidField(found.path, "is there twice", "repeated_key")
		: invalidField(found.path, `is '${found.known}' in another spelling; write '${found.known}'`, "misspelled_key");
}
