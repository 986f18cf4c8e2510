import { Hono } from "hono";
import { ApiError } from "../errors/index.ts";
import type { Connection } from "./connection.ts";
import type { Endpoint } from "./endpoint.ts";
import { asApiError, type ErrorForm, errorBody, errorForm, errorHeaders, errorStatus } from "./error-body.ts";
import { nearestPath } from "./nearest-path.ts";
import { handleRequest, type PreparedEndpoint, prepareEndpoint } from "./pipeline.ts";
import type { PipelineDeps } from "./pipeline-deps.ts";
import { createRequestId } from "./request-id.ts";
import { pathOf } from "./request-target.ts";
import { answerHeaders, preflight, respond } from "./respond.ts";

export const API_PREFIX = "/api/v1";

/** Pages and probes outside the API: answered without the pipeline. */
export interface SidePage {
	/** The path in Hono's syntax. */
	readonly path: string;
	/** True: the page answers every method itself. */
	readonly anyMethod?: boolean;
	answer(request: Request, connection: Connection): Response | Promise<Response>;
}

/** The HTTP application. It uses Web standards only, so tests need no socket. */
export interface App {
	fetch(request: Request, connection: Connection): Response | Promise<Response>;
	/** Answers with an error in the form of the request's path. The listener uses it, since it knows no routes. */
	refuse(request: Request, error: ApiError): Response;
	/** Answers 404 for a path without a route, and names the route that is probably meant. */
	notFound(request: Request): Response;
}

interface Env {
	Bindings: Connection;
}

/**
 * Builds the application from the endpoints' declarations below a prefix: routes, 404, 405 with Allow, OPTIONS, HEAD.
 */
export function createApp(
	endpoints: readonly Endpoint[],
	pages: readonly SidePage[],
	deps: PipelineDeps,
	prefix: string = API_PREFIX,
): App {
	const routes = routesOf(endpoints, prefix);
	const app = new Hono<Env>({ strict: true });
	for (const [path, methods] of routes) {
		const allow = allowOf(methods.keys());
		for (const [method, prepared] of methods)
			app.on(method, path, (c) => handleRequest(prepared, c.req.raw, c.req.param() as Record<string, string>, c.env, deps));
		app.all(path, (c) => {
			if (c.req.method === "OPTIONS") return preflight(c.req.raw, createRequestId(), allow, deps.settings());
			return refuse(c.req.raw, wrongMethod(c.req.method, allow));
		});
	}
	for (const page of pages) {
		if (page.anyMethod === true) {
			app.all(page.path, async (c) => withRequestId(await page.answer(c.req.raw, c.env)));
			continue;
		}
		const allow = allowOf(["GET"]);
		app.get(page.path, async (c) => withRequestId(await page.answer(c.req.raw, c.env)));
		app.all(page.path, (c) => {
			if (c.req.method === "OPTIONS") return preflight(c.req.raw, createRequestId(), allow, deps.settings());
			return refuse(c.req.raw, wrongMethod(c.req.method, allow));
		});
	}
	const formOf = errorForms(endpoints, prefix);
	const refuse = (request: Request, error: ApiError, path = pathOf(request.url)): Response =>
		errorResponse(error, formOf(path), request, deps);
	const nearest = nearestPath([...routes.keys()], prefix);
	const notFound = (request: Request): Response => {
		const nearestRoute = nearest(pathOf(request.url));
		// A caller of a path that is nearly a route reads errors in the form of that route.
		return refuse(request, noSuchPath(request, nearestRoute), nearestRoute ?? undefined);
	};
	app.notFound((c) => notFound(c.req.raw));
	app.onError((error, c) => {
		deps.log.error({ cause: error.stack ?? error.message }, "a request left the pipeline with an error");
		return refuse(c.req.raw, asApiError(error));
	});
	return {
		// Most requests name a path without parameters. A map lookup finds it without the router.
		fetch(request, connection) {
			if (!HOST.test(request.headers.get("host") ?? "localhost"))
				return refuse(request, new ApiError("INVALID_REQUEST", { message: "The Host header is not a host" }));
			const prepared = routes.get(pathOf(request.url))?.get(request.method);
			if (prepared !== undefined) return handleRequest(prepared, request, NO_PARAMS, connection, deps);
			// The HTTP layer omits the body of a HEAD answer but sends its length, so it needs the whole answer.
			return app.fetch(request.method === "HEAD" ? new Request(request, { method: "GET" }) : request, connection);
		},
		refuse,
		notFound,
	};
}

/**
 * Returns a function that returns the error form of a path, for requests refused before a route is found. It is the
 * form of the route that begins with the path, else that of the first segment's clients.
 */
function errorForms(endpoints: readonly Endpoint[], prefix: string): (path: string) => ErrorForm {
	const routes = endpoints.map((endpoint) => [endpoint.path.split("/:")[0], errorForm(endpoint)] as const);
	const segments = endpoints
		.filter((endpoint) => endpoint.openAi || endpoint.anthropic === true)
		.map((endpoint) => [`/${endpoint.path.split("/")[1]}`, errorForm(endpoint)] as const);
	const forms = [...routes, ...segments]
		.map(([root, form]) => ({ root: `${prefix}${root}`, form }))
		.sort((a, b) => b.root.length - a.root.length);
	return (path) => forms.find(({ root }) => path === root || path.startsWith(`${root}/`))?.form ?? "plain";
}

/** A name or an address with a port. Anything else would change the path of the URL that the runtime builds from it. */
const HOST = /^[A-Za-z0-9._~%[\]:-]*$/;

/** Returns the 404 of an unknown path. `nearest` is the path that is probably meant. */
function noSuchPath(request: Request, nearest: string | null): ApiError {
	const path = pathOf(request.url).slice(0, 200);
	return new ApiError("NOT_FOUND", { message: `No such path: ${path}${nearest === null ? "" : `; call ${nearest}`}` });
}

/** Returns the 405, with the methods that the path takes. */
export function wrongMethod(method: string, allow: string): ApiError {
	return new ApiError("METHOD_NOT_ALLOWED", {
		message: `This path does not take ${method}; it takes ${allow}`,
		headers: { Allow: allow },
	});
}

/** Adds the request id to a page or probe. An id that the pipeline has set stays. */
export function withRequestId(response: Response): Response {
	if (!response.headers.has("X-Request-ID")) response.headers.set("X-Request-ID", createRequestId());
	return response;
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});

/** Returns the endpoints by path, then by method. */
function routesOf(endpoints: readonly Endpoint[], prefix: string): Map<string, Map<string, PreparedEndpoint>> {
	const routes = new Map<string, Map<string, PreparedEndpoint>>();
	for (const endpoint of endpoints) {
		const path = `${prefix}${endpoint.path}`;
		const methods = routes.get(path) ?? new Map<string, PreparedEndpoint>();
		routes.set(path, methods);
		methods.set(endpoint.method, prepareEndpoint(endpoint));
	}
	return routes;
}

function allowOf(methods: Iterable<string>): string {
	const all = new Set(methods);
	if (all.has("GET")) all.add("HEAD");
	all.add("OPTIONS");
	return [...all].join(", ");
}

/** Returns the answer to an error outside the pipeline: unknown path, wrong method, draining. */
export function errorResponse(
	error: ApiError,
	form: ErrorForm,
	request: Request,
	deps: Pick<PipelineDeps, "settings">,
): Response {
	const settings = deps.settings();
	const answer = {
		status: errorStatus(error.code, form),
		type: "application/json",
		body: JSON.stringify(errorBody(error, form)),
		headers: errorHeaders(error),
	};
	return respond(answer, answerHeaders(createRequestId(), null, settings), request, settings);
}
