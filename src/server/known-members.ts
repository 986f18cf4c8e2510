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

/** Returns the member names of these schemas at each place. If one of them accepts any value, any name is allowed. */
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
 * Refuses a body that spells a known member another way, since some servers ignore case in names. It also refuses
 * members repeated below the top level, since servers differ on which one counts (docs/chat.md). `json` has been parsed
 * before.
 * @throws ApiError INVALID_REQUEST that names the member
 */
export function refuseAmbiguousMembers(known: KnownMembers, json: Uint8Array): void {
	const ambiguity = known.ambiguousIn(json, documentStart(json));
	if (ambiguity === null) return;
	const repeated = ambiguity.path.at(-1) === ambiguity.known;
	throw repeated
		? invalidField(ambiguity.path, "is there twice", "repeated_key")
		: invalidField(ambiguity.path, `is '${ambiguity.known}' in another spelling; write '${ambiguity.known}'`, "misspelled_key");
}
