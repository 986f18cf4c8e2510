import type { TSchema } from "typebox";
import { type Checker, invalidField, invalidRequest } from "../schema/index.ts";
import type { Endpoint } from "./endpoint.ts";
import { checkInput, readScalar } from "./parse-body.ts";

interface PropertySchema {
	readonly type?: string;
}

/** The query parameters that an endpoint takes. */
export interface QueryRules {
	readonly checker: Checker<TSchema> | null;
	readonly properties: Readonly<Record<string, PropertySchema>>;
	/** Accepted parameters that are no part of the endpoint's input. */
	readonly beside: readonly string[];
}

/** Returns the rules for an endpoint's query from its declaration. */
export function queryRules(endpoint: Endpoint, query: Checker<TSchema> | null): QueryRules {
	const { properties = {} } = (query?.schema ?? {}) as { readonly properties?: QueryRules["properties"] };
	return { checker: query, properties, beside: extraParameters(endpoint).map(({ name }) => name) };
}

/** A query parameter that is accepted but is no part of the endpoint's input. */
interface ExtraParameter {
	readonly name: string;
	readonly description: string;
	readonly schema: { readonly type: "string" };
}

const text = { type: "string" } as const;
const OFFER_VERSION = { name: "x402Version", description: "1: the offer of a 402 has the form of x402 version 1", schema: text };
const API_VERSION = { name: "api-version", description: "Sent by clients of other servers. It has no effect", schema: text };
const BETA = { name: "beta", description: "Sent by Anthropic's clients. It has no effect", schema: text };

/** Returns the parameters that an endpoint accepts beside those of its query's schema. */
export function extraParameters({ kind, callers, openAi, anthropic }: Endpoint): ExtraParameter[] {
	const beside: ExtraParameter[] = [];
	// The version of the offer in a 402 (docs/wallets.md).
	if (kind === "metered" && callers.includes("wallet")) beside.push(OFFER_VERSION);
	// Clients of other servers add these to each request; nothing depends on them.
	if (openAi) beside.push(API_VERSION);
	if (anthropic === true) beside.push(BETA);
	return beside;
}

/**
 * Reads the query parameters of a URL.
 * @throws ApiError INVALID_REQUEST that names each unknown parameter: ignoring a filter would return more than
 * requested
 */
export function readQuery(url: string, rules: QueryRules): Record<string, unknown> {
	const start = url.indexOf("?");
	if (start < 0 && rules.checker === null) return {};
	const search = new URLSearchParams(start < 0 ? "" : url.slice(start + 1));
	for (const name of rules.beside) search.delete(name);
	requireKnown(search, rules);
	requireOnce(search, rules);
	const query = queryObject(search, rules.properties);
	if (rules.checker !== null) checkInput(rules.checker, query);
	return query;
}

/** Refuses repeated parameters, since readers differ on which one counts. */
function requireOnce(search: URLSearchParams, { properties }: QueryRules): void {
	for (const name of new Set(search.keys()))
		if (properties[name]?.type !== "array" && search.getAll(name).length > 1)
			throw invalidField([name], "is there twice; send it once", "repeated_key");
}

/** Maximum number of unknown parameters that an answer names. */
const MAX_NAMED = 20;

function requireKnown(search: URLSearchParams, { properties, beside }: QueryRules): void {
	const unknown = [...new Set(search.keys())].filter((name) => !Object.hasOwn(properties, name));
	if (unknown.length === 0) return;
	const known = [...Object.keys(properties), ...beside];
	const accepted = known.length === 0 ? "this route takes none" : `this route takes ${known.join(", ")}`;
	throw invalidRequest(
		unknown.slice(0, MAX_NAMED).map((name) => ({
			path: [name.slice(0, 100)],
			code: "unrecognized_key",
			message: `is not a query parameter here; ${accepted}`,
		})),
	);
}

/**
 * Returns query parameters as an object for the schema. Numbers and booleans are parsed where the schema has them,
 * repeated or comma-separated values where it has an array. An empty value and `null` mean absent, except in texts.
 */
function queryObject(search: URLSearchParams, properties: QueryRules["properties"]): Record<string, unknown> {
	const result: Record<string, unknown> = {};
	for (const name of new Set(search.keys())) {
		const type = properties[name]?.type;
		const values = search.getAll(name);
		if (type === "array") result[name] = values.flatMap((value) => value.split(",")).filter((value) => value !== "");
		else {
			const lastValue = values.at(-1) ?? "";
			const absent = type !== "string" && (lastValue === "" || lastValue === "null");
			if (!absent) result[name] = readScalar(lastValue, type);
		}
	}
	return result;
}
