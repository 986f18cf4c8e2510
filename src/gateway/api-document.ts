/**
 * GET /openapi.json and /docs: the API document. Free, for everybody. Promise: it is made once and then kept, so that a
 * request for it costs no more than its bytes.
 */
import Type from "typebox";
import type { RuleNames } from "../access/index.ts";
import { VERSION } from "../config/index.ts";
import { type Answer, docsPage, type Endpoint, openApiDocument, plain } from "../server/index.ts";

const DocumentSchema = Type.Object(
	{ openapi: Type.String(), info: Type.Object({ title: Type.String(), version: Type.String() }) },
	{ additionalProperties: true },
);

const encoder = new TextEncoder();

export interface ApiDocumentDeps {
	/** All of the API, this route too. */
	readonly endpoints: () => readonly Endpoint[];
	/** What keys may be restricted to. */
	readonly ruleNames: RuleNames;
	/** The address of the service. */
	readonly url: () => string;
}

/** The document and its page as they go out. */
interface Kept {
	/** What the document says of the service: another address makes another one. */
	readonly of: string;
	readonly json: Answer;
	readonly page: Uint8Array<ArrayBuffer>;
}

export class ApiDocument {
	readonly #deps: ApiDocumentDeps;
	#kept: Kept | null = null;

	constructor(deps: ApiDocumentDeps) {
		this.#deps = deps;
	}

	/** The page that shows it, in HTML. */
	get page(): Uint8Array<ArrayBuffer> {
		return this.#current().page;
	}

	route(): Endpoint {
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
			run: () => this.#current().json,
		});
	}

	#current(): Kept {
		const { endpoints, ruleNames, url } = this.#deps;
		const names = { EndpointName: [...ruleNames.endpoints], NetworkName: [...ruleNames.networks] };
		const of = [url(), ...names.NetworkName].join(" ");
		if (this.#kept?.of === of) return this.#kept;
		const document = openApiDocument(endpoints(), { version: VERSION, url: url(), names });
		const body = encoder.encode(JSON.stringify(document));
		const json = { status: 200, type: "application/json", body, packed: new Map<string, Uint8Array>() };
		this.#kept = { of, json, page: encoder.encode(docsPage(document)) };
		return this.#kept;
	}
}
