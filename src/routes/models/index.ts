/**
 * GET /models and below: the list, one model, traits, compatibility names. Free. A credential is needed unless
 * `models.public` is set. Each listed model can be called or has `offline: true`.
 */
import {
	type Catalog,
	ModelListSchema,
	ModelQuerySchema,
	ModelSchema,
	ModelsQuerySchema,
	ModelTypeQuerySchema,
	NameMapSchema,
} from "../../catalog/index.ts";
import { ApiError } from "../../errors/index.ts";
import type { Call } from "../../server/call.ts";
import { type Endpoint, json, plain } from "../../server/endpoint.ts";

/** The endpoints that `models.public` opens. */
export const MODEL_ENDPOINTS = ["models", "model", "model-traits", "model-mapping"] as const;

const common = { method: "GET", tag: "Models", openAi: true, callers: ["key", "wallet"], listLimit: true } as const;

/**
 * Returns the routes.
 * @param takeAnonymous counts a request without a credential in its address's minute window, or throws
 */
export function modelRoutes(catalog: () => Catalog, takeAnonymous: (call: Call) => void): Endpoint[] {
	return declarations(catalog).map((endpoint) => {
		if (endpoint.kind !== "plain") return endpoint;
		const run: typeof endpoint.run = (input, call) => {
			if (call.caller === null) takeAnonymous(call);
			return endpoint.run(input, call);
		};
		return { ...endpoint, run };
	});
}

function declarations(catalog: () => Catalog): Endpoint[] {
	return [
		plain({
			...common,
			path: "/models",
			name: "models",
			summary: "List models",
			query: ModelsQuerySchema,
			answer: { type: "application/json", schema: ModelListSchema, description: "Models, newest first" },
			run: ({ query }) => {
				const type = query.type ?? "text";
				const { models, ...page } = pageOf(catalog().list(type), query);
				return json({ object: "list", type, data: models.map((model) => model.public), ...page });
			},
		}),
		plain({
			...common,
			path: "/models/traits",
			name: "model-traits",
			summary: "Traits and the model that each stands for",
			query: ModelTypeQuerySchema,
			answer: { type: "application/json", schema: NameMapSchema, description: "trait -> model id" },
			run: ({ query }) => json({ object: "list", type: query.type ?? "text", data: catalog().traits(query.type ?? "text") }),
		}),
		plain({
			...common,
			path: "/models/compatibility_mapping",
			name: "model-mapping",
			summary: "Foreign model names and the model that each stands for",
			query: ModelTypeQuerySchema,
			answer: { type: "application/json", schema: NameMapSchema, description: "compatibility name -> model id" },
			run: ({ query }) =>
				json({ object: "list", type: query.type ?? "text", data: catalog().compatibilityMapping(query.type ?? "text") }),
		}),
		plain({
			...common,
			path: "/models/:id{.+}",
			name: "model",
			summary: "One model; of a speech model with its voices",
			query: ModelQuerySchema,
			codes: ["MODEL_NOT_FOUND"],
			answer: { type: "application/json", schema: ModelSchema, description: "The model" },
			run: ({ params }) => {
				const id = params.id ?? "";
				const model = catalog().get(id);
				if (model === undefined)
					throw new ApiError("MODEL_NOT_FOUND", {
						message: `Unknown model ${JSON.stringify(id.slice(0, 100))}; GET /api/v1/models?type=all lists what is available`,
					});
				return json(model.public);
			},
		}),
	];
}

interface PageQuery {
	readonly limit?: number;
	readonly after_id?: string;
	readonly before_id?: string;
}

/** Returns all models or one page, with the paging of Anthropic's clients. Unknown ids do not limit the page. */
function pageOf<Model extends { readonly id: string }>(models: readonly Model[], query: PageQuery) {
	const { limit, after_id: after, before_id: before } = query;
	if (limit === undefined && after === undefined && before === undefined) return { models };
	const place = (id: string | undefined) => models.findIndex((model) => model.id === id);
	const start = place(after) + 1;
	const end = before === undefined || place(before) < 0 ? models.length : place(before);
	const between = models.slice(start, end);
	const size = limit ?? between.length;
	// Backwards, the page ends before `before_id`.
	const page = before === undefined ? between.slice(0, size) : between.slice(-size);
	const [first, last] = [page[0]?.id ?? null, page.at(-1)?.id ?? null];
	return { models: page, has_more: page.length < between.length, first_id: first, last_id: last };
}
