import { Hono } from "hono";
import { ApiError } from "../errors/index.ts";
import type { Endpoint } from "./endpoint.ts";
import { asApiError, errorBody, errorHeaders } from "./error-body.ts";
import { type Connection, type PipelineParts, type Prepared, prepare, travel } from "./pipeline.ts";
import { newRequestId } from "./request-id.ts";
import { answerHeaders, preflight, respond } from "./respond.ts";

export const API_PREFIX = "/api/v1";

/** Pages and probes outside the API: answered without the pipeline. */
export interface SidePage {
	readonly path: string;
	answer(request: Request): Response | Promise<Response>;
}

/** The HTTP application: Web-standard, testable without a socket. */
export interface App {
	fetch(request: Request, connection: Connection): Response | Promise<Response>;
}

interface Env {
	Bindings: Connection;
}

/** Builds the application from the endpoints' declarations: routes, 404, 405 with Allow, OPTIONS, HEAD. */
export function createApp(endpoints: readonly Endpoint[], pages: readonly SidePage[], parts: PipelineParts): App {
	const app = new Hono<Env>({ strict: true });
	const methodsByPath = new Map<string, Map<string, Prepared>>();
	for (const endpoint of endpoints) {
		const path = `${API_PREFIX}${endpoint.path}`;
		const methods = methodsByPath.get(path) ?? new Map<string, Prepared>();
		methodsByPath.set(path, methods);
		methods.set(endpoint.method, prepare(endpoint));
	}
	for (const [path, methods] of methodsByPath) {
		const allow = allowOf(methods.keys());
		const openAi = [...methods.values()].some(({ endpoint }) => endpoint.openAi);
		for (const [method, prepared] of methods)
			app.on(method, path, (c) => travel(prepared, c.req.raw, c.req.param() as Record<string, string>, c.env, parts));
		app.all(path, (c) => {
			if (c.req.method === "OPTIONS") return preflight(c.req.raw, newRequestId(), allow, parts.settings());
			return errorResponse(new ApiError("METHOD_NOT_ALLOWED", { headers: { Allow: allow } }), openAi, c.req.raw, parts);
		});
	}
	for (const page of pages) app.get(page.path, (c) => page.answer(c.req.raw));
	const openAiRoots = endpoints
		.filter((endpoint) => endpoint.openAi)
		.map((endpoint) => `${API_PREFIX}/${endpoint.path.split("/")[1]}`);
	app.notFound((c) => {
		const openAi = openAiRoots.some((root) => c.req.path === root || c.req.path.startsWith(`${root}/`));
		return errorResponse(
			new ApiError("NOT_FOUND", { message: `No such path: ${c.req.path.slice(0, 200)}` }),
			openAi,
			c.req.raw,
			parts,
		);
	});
	app.onError((error, c) => {
		parts.log.error({ cause: error.stack ?? error.message }, "a request left the pipeline with an error");
		return errorResponse(asApiError(error), false, c.req.raw, parts);
	});
	return { fetch: (request, connection) => app.fetch(request, connection) };
}

function allowOf(methods: Iterable<string>): string {
	const all = new Set(methods);
	if (all.has("GET")) all.add("HEAD");
	all.add("OPTIONS");
	return [...all].join(", ");
}

/** An error that is answered outside the pipeline: unknown path, wrong method, draining. */
export function errorResponse(
	error: ApiError,
	openAi: boolean,
	request: Request,
	parts: Pick<PipelineParts, "settings">,
): Response {
	const settings = parts.settings();
	const answer = {
		status: error.status,
		type: "application/json",
		body: JSON.stringify(errorBody(error, openAi)),
		headers: errorHeaders(error),
	};
	return respond(answer, answerHeaders(newRequestId(), null, settings), request, settings);
}
