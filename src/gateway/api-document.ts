/** GET /openapi.json: the API document. Free, for everybody. */
import Type from "typebox";
import type { RuleNames } from "../access/index.ts";
import { VERSION } from "../config/index.ts";
import { type Endpoint, json, openApiDocument, plain } from "../server/index.ts";

const DocumentSchema = Type.Object(
	{ openapi: Type.String(), info: Type.Object({ title: Type.String(), version: Type.String() }) },
	{ additionalProperties: true },
);

export interface ApiDocumentParts {
	/** All of the API, this route too. */
	readonly endpoints: () => readonly Endpoint[];
	/** What keys may be restricted to. */
	readonly ruleNames: RuleNames;
	/** The address of the service. */
	readonly url: () => string;
}

/** Builds the document as it is now. */
export function apiDocument({ endpoints, ruleNames, url }: ApiDocumentParts): Record<string, unknown> {
	const names = { EndpointName: [...ruleNames.endpoints], NetworkName: [...ruleNames.networks] };
	return openApiDocument(endpoints(), { version: VERSION, url: url(), names });
}

export function apiDocumentRoute(parts: ApiDocumentParts): Endpoint {
	return plain({
		method: "GET",
		path: "/openapi.json",
		name: "openapi",
		tag: "About",
		summary: "This document",
		openAi: false,
		callers: ["none"],
		listLimit: false,
		answer: { type: "application/json", schema: DocumentSchema, description: "OpenAPI 3.1" },
		run: () => json(apiDocument(parts)),
	});
}
