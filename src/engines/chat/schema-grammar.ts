/**
 * Converts a JSON Schema to a GBNF grammar that constrains the model's output. It supports keywords of structure (types,
 * properties, required, items, enum, const, anyOf, oneOf, allOf, $ref, lengths, counts). Rules about values (ranges, patterns)
 * are ignored, or refused with `strict`. Source: JSON Schema 2020-12; llama.cpp's GBNF.
 */

/** The schema has no equivalent grammar; the text names the place. */
export class SchemaUnsupported extends Error {
	override readonly name = "SchemaUnsupported";
}

type Schema = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 64;
const MAX_RULES = 4_000;
const MAX_GRAMMAR_CHARS = 200_000;
/** The grammar engine refuses long repetitions, so a larger limit is left open. */
const MAX_REPEAT = 1_000;

/** Rules that every schema may use. `ws` is at most one space, because a small model otherwise writes blanks forever. */
const BASE_RULES: Readonly<Record<string, string>> = {
	ws: '" "?',
	char: String.raw`[^"\\\x7F\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})`,
	string: String.raw`"\"" char* "\""`,
	integer: '"-"? ("0" | [1-9] [0-9]{0,15})',
	number: 'integer ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,3})?',
	boolean: '"true" | "false"',
	null: '"null"',
	value: "object | array | string | number | boolean | null",
	object: '"{" ws (string ":" ws value ("," ws string ":" ws value)*)? "}"',
	array: '"[" ws (value ("," ws value)*)? "]"',
	date: '[0-9]{4} "-" ("0" [1-9] | "1" [0-2]) "-" ("0" [1-9] | [12] [0-9] | "3" [01])',
	time: '([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9] ":" [0-5] [0-9] ("." [0-9]{3})? ("Z" | [+-] [01] [0-9] ":" [0-5] [0-9])',
	hex: "[0-9a-f]",
};

const FORMATS: Readonly<Record<string, string>> = {
	date: String.raw`"\"" date "\""`,
	time: String.raw`"\"" time "\""`,
	"date-time": String.raw`"\"" date "T" time "\""`,
	uuid: String.raw`"\"" hex{8} "-" hex{4} "-" hex{4} "-" hex{4} "-" hex{12} "\""`,
};

/** Unsupported keywords that change the allowed structures. */
const STRUCTURAL = [
	"not",
	"if",
	"then",
	"else",
	"patternProperties",
	"dependentSchemas",
	"propertyNames",
	"contains",
	"$dynamicRef",
];
/** Keywords about values: ignored unless the caller asks for `strict`. */
const VALUE_RULES = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern", "uniqueItems"];

const isSchema = (value: unknown): value is Schema => typeof value === "object" && value !== null && !Array.isArray(value);

/** Writes a JSON value as a GBNF literal. JSON text has no raw control characters. */
function json(value: unknown): string {
	const text = JSON.stringify(value) ?? "null";
	return `"${text.replace(/[\\"]/g, "\\$&")}"`;
}

function count(schema: Schema, keyword: string, place: string): number | undefined {
	const value = schema[keyword];
	if (value === undefined) return undefined;
	if (typeof value !== "number" || !Number.isInteger(value) || value < 0)
		throw new SchemaUnsupported(`${place}/${keyword} must be a whole number of at least 0`);
	return value;
}

class GrammarBuilder {
	readonly #root: unknown;
	readonly #strict: boolean;
	readonly #rules = new Map<string, string>(Object.entries(BASE_RULES));
	readonly #refs = new Map<string, string>();

	constructor(root: unknown, strict: boolean) {
		this.#root = root;
		this.#strict = strict;
	}

	build(): string {
		this.#rules.set("root", this.#expression(this.#root, "#", 0));
		const text = [...this.#rules].map(([name, body]) => `${name} ::= ${body}`).join("\n");
		if (text.length > MAX_GRAMMAR_CHARS) throw new SchemaUnsupported("the schema is too large");
		return text;
	}

	#rule(hint: string, body: string): string {
		if (this.#rules.size >= MAX_RULES) throw new SchemaUnsupported("the schema has too many parts");
		const name = `${hint}-${this.#rules.size}`;
		this.#rules.set(name, body);
		return name;
	}

	/** Returns the schema as an expression: the name of a rule, or something that needs no brackets beside others. */
	#expression(schema: unknown, place: string, depth: number): string {
		if (depth > MAX_DEPTH) throw new SchemaUnsupported(`${place} lies deeper than ${MAX_DEPTH} levels`);
		if (schema === true) return "value";
		if (!isSchema(schema)) throw new SchemaUnsupported(`${place} must be a schema that something fits`);
		this.#refuse(schema, place);
		if (schema.$ref !== undefined) return this.#reference(schema.$ref, place, depth);
		if (schema.const !== undefined) return json(schema.const);
		if (schema.enum !== undefined) return this.#choice(schema.enum, place, "enum", (value) => json(value));
		for (const keyword of ["anyOf", "oneOf"] as const)
			if (schema[keyword] !== undefined)
				return this.#choice(schema[keyword], place, keyword, (branch, at) =>
					this.#expression(this.#merge(schema, keyword, branch), at, depth + 1),
				);
		if (schema.allOf !== undefined) return this.#expression(this.#mergeAll(schema, place), place, depth + 1);
		return this.#ofType(schema, place, depth);
	}

	#refuse(schema: Schema, place: string): void {
		const unsupported = [...STRUCTURAL, ...(this.#strict ? VALUE_RULES : [])].find((keyword) => schema[keyword] !== undefined);
		if (unsupported) throw new SchemaUnsupported(`${place}/${unsupported} is not supported by this model`);
	}

	#choice(list: unknown, place: string, keyword: string, each: (value: unknown, at: string) => string): string {
		if (!Array.isArray(list) || list.length === 0) throw new SchemaUnsupported(`${place}/${keyword} must be a list with items`);
		const branches = list.map((value, index) => each(value, `${place}/${keyword}/${index}`));
		return this.#rule("any", branches.join(" | "));
	}

	/** Merges a branch with its sibling keywords, because both apply. */
	#merge(schema: Schema, keyword: "anyOf" | "oneOf", branch: unknown): unknown {
		const { [keyword]: _, $defs, definitions, description, title, ...beside } = schema;
		return Object.keys(beside).length === 0 || !isSchema(branch) ? branch : join(beside, branch);
	}

	#mergeAll(schema: Schema, place: string): Schema {
		const { allOf, ...beside } = schema;
		if (!Array.isArray(allOf)) throw new SchemaUnsupported(`${place}/allOf must be a list`);
		return allOf.reduce<Schema>((merged, part, index) => {
			const resolved = isSchema(part) && part.$ref !== undefined ? this.#target(part.$ref, place) : part;
			if (!isSchema(resolved)) throw new SchemaUnsupported(`${place}/allOf/${index} must be a schema`);
			return join(merged, resolved);
		}, beside);
	}

	#target(ref: unknown, place: string): unknown {
		if (typeof ref !== "string" || !/^#(\/|$)/.test(ref))
			throw new SchemaUnsupported(`${place}/$ref must point into this schema`);
		let target: unknown = this.#root;
		for (const part of ref.split("/").slice(1)) {
			const key = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
			if (typeof target !== "object" || target === null || !Object.hasOwn(target, key))
				throw new SchemaUnsupported(`${place}/$ref: ${ref} is not there`);
			target = (target as Record<string, unknown>)[key];
		}
		return target;
	}

	/** Returns a rule for each target, named before it is built, so that a schema may refer to itself. */
	#reference(ref: unknown, place: string, depth: number): string {
		const target = this.#target(ref, place);
		const key = String(ref);
		const ruleName = this.#refs.get(key);
		if (ruleName) return ruleName;
		const name = this.#rule("ref", "null");
		this.#refs.set(key, name);
		const body = this.#expression(target, key, depth + 1);
		if (body === name) throw new SchemaUnsupported(`${place}/$ref: ${key} only points at itself`);
		this.#rules.set(name, body);
		return name;
	}

	#ofType(schema: Schema, place: string, depth: number): string {
		const { type } = schema;
		if (Array.isArray(type)) {
			const types: unknown[] = type;
			return this.#choice(types, place, "type", (each) => this.#ofType({ ...schema, type: each }, place, depth));
		}
		if (
			type === "object" ||
			(type === undefined && (schema.properties !== undefined || schema.additionalProperties !== undefined))
		)
			return this.#object(schema, place, depth);
		if (type === "array" || (type === undefined && (schema.items !== undefined || schema.prefixItems !== undefined)))
			return this.#array(schema, place, depth);
		if (type === "string") return this.#string(schema, place);
		if (type === undefined) return "value";
		if (type === "integer" || type === "number" || type === "boolean" || type === "null") return type;
		throw new SchemaUnsupported(`${place}/type: ${String(type)} is not a type`);
	}

	#string(schema: Schema, place: string): string {
		const format = typeof schema.format === "string" ? FORMATS[schema.format] : undefined;
		if (format) return this.#rule("string", format);
		const [min = 0, max] = [count(schema, "minLength", place), count(schema, "maxLength", place)];
		if (min === 0 && max === undefined) return "string";
		return this.#rule("string", String.raw`"\"" char${repeat(min, max, place)} "\""`);
	}

	#array(schema: Schema, place: string, depth: number): string {
		const [min = 0, max] = [count(schema, "minItems", place), count(schema, "maxItems", place)];
		const fixed = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
		if (fixed.length > 0) {
			const items = fixed.map((item, index) => this.#expression(item, `${place}/prefixItems/${index}`, depth + 1));
			return this.#rule("array", `"[" ws ${items.join(' "," ws ')} "]"`);
		}
		const item = this.#expression(schema.items ?? true, `${place}/items`, depth + 1);
		if (max === 0) return this.#rule("array", '"[" ws "]"');
		const more = `("," ws ${item})${repeat(Math.max(0, min - 1), max === undefined ? undefined : max - 1, place)}`;
		return this.#rule("array", min > 0 ? `"[" ws ${item} ${more} "]"` : `"[" ws (${item} ${more})? "]"`);
	}

	#object(schema: Schema, place: string, depth: number): string {
		if (schema.properties !== undefined && !isSchema(schema.properties))
			throw new SchemaUnsupported(`${place}/properties must be an object`);
		const properties = Object.entries(schema.properties ?? {});
		const required = new Set(Array.isArray(schema.required) ? schema.required.map(String) : []);
		for (const name of required) if (!Object.hasOwn(schema.properties ?? {}, name)) properties.push([name, true]);
		if (properties.length === 0) return this.#map(schema.additionalProperties ?? true, place, depth);
		const pairs = properties.map(([name, property]) => {
			const value = this.#expression(property, `${place}/properties/${name}`, depth + 1);
			return { pair: this.#rule("pair", `${json(name)} ":" ws ${value}`), required: required.has(name) };
		});
		// Built from the last pair to the first: `first` applies before any pair is written, `rest` where a comma is needed.
		let first = "";
		let rest = "";
		for (const { pair, required: must } of pairs.toReversed()) {
			const here = this.#rule("members", `${pair} ${rest}`);
			const after = this.#rule("more", `"," ws ${pair} ${rest}`);
			first = must ? here : this.#rule("members", `${here} | ${first || '""'}`);
			rest = must ? after : this.#rule("more", `${after} | ${rest || '""'}`);
		}
		return this.#rule("object", `"{" ws ${first} "}"`);
	}

	#map(values: unknown, place: string, depth: number): string {
		if (values === false) return this.#rule("object", '"{" ws "}"');
		if (values === true) return "object";
		const pair = this.#rule("pair", `string ":" ws ${this.#expression(values, `${place}/additionalProperties`, depth + 1)}`);
		return this.#rule("object", `"{" ws (${pair} ("," ws ${pair})*)? "}"`);
	}
}

function repeat(min: number, max: number | undefined, place: string): string {
	if (min > MAX_REPEAT) throw new SchemaUnsupported(`${place} asks for more than ${MAX_REPEAT} repetitions`);
	if (max !== undefined && max < min) throw new SchemaUnsupported(`${place} has a maximum below its minimum`);
	if (max === undefined || max > MAX_REPEAT) return min === 0 ? "*" : `{${min},}`;
	return `{${min},${max}}`;
}

/** Joins two schemas that both apply: members of objects are united, otherwise the second one overrides. */
function join(one: Schema, two: Schema): Schema {
	const properties = { ...(isSchema(one.properties) ? one.properties : {}), ...(isSchema(two.properties) ? two.properties : {}) };
	const required = [one.required, two.required].flatMap((list) => (Array.isArray(list) ? list : []));
	return {
		...one,
		...two,
		...(Object.keys(properties).length > 0 ? { properties } : {}),
		...(required.length > 0 ? { required: [...new Set(required)] } : {}),
	};
}

/**
 * Converts a schema.
 * @param schema a JSON Schema, or `true`
 * @param strict refuse keywords about values instead of ignoring them
 * @returns GBNF text whose start rule is `root`
 * @throws {SchemaUnsupported}
 */
export function grammarForSchema(schema: unknown, strict = false): string {
	return new GrammarBuilder(schema, strict).build();
}

/** Any JSON object: `response_format: {type: "json_object"}`. */
export const JSON_OBJECT_GRAMMAR: string = grammarForSchema({ type: "object" });
