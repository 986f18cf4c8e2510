/**
 * GET /openapi.json and /docs serve the API document, free and without authentication. It is built once and cached, so a
 * request costs no more than its bytes.
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
	/** Lists every endpoint of the API, including this route. */
	readonly endpoints: () => readonly Endpoint[];
	/** The names that a key's restrictions may use. */
	readonly ruleNames: RuleNames;
	/** Returns the public address of the service. */
	readonly url: () => string;
}

/** The rendered document and page. */
interface CachedDocument {
	/** The service address and network names that the document shows; a different value makes a new document. */
	readonly cacheKey: string;
	readonly json: Answer;
	readonly page: Uint8Array<ArrayBuffer>;
}

export class ApiDocument {
	readonly #deps: ApiDocumentDeps;
	#cache: CachedDocument | null = null;

	constructor(deps: ApiDocumentDeps) {
		this.#deps = deps;
	}

	/** Returns the documentation page as HTML. */
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

	#current(): CachedDocument {
		const { endpoints, ruleNames, url } = this.#deps;
		const names = { EndpointName: [...ruleNames.endpoints], NetworkName: [...ruleNames.networks] };
		const cacheKey = [url(), ...names.NetworkName].join(" ");
		if (this.#cache?.cacheKey === cacheKey) return this.#cache;
		const document = openApiDocument(endpoints(), { version: VERSION, url: url(), names });
		const body = encoder.encode(JSON.stringify(document));
		const json = { status: 200, type: "application/json", body, packed: new Map<string, Uint8Array>() };
		this.#cache = { cacheKey, json, page: encoder.encode(docsPage(document)) };
		return this.#cache;
	}
}
