/**
 * The API of the console's pages (docs/console-api.md), below /console/api. Only signed-in sessions may call it, with
 * the rights of their ADMIN key. It reads the store beside the server's own work. It changes the store by the same
 * operations as the API and the command line.
 */
import type Type from "typebox";
import { ApiError } from "../../errors/index.ts";
import { type Endpoint, plain } from "../../server/endpoint.ts";
import { assets, pullAsset } from "./assets.ts";
import type { ConsoleApiDeps } from "./deps.ts";
import { accounts, keys } from "./keys.ts";
import { refusals, sends, topUps, wallets } from "./lists.ts";
import { margin } from "./margin.ts";
import { models, probe, upstreams } from "./models.ts";
import { networks } from "./networks.ts";
import { oneRequest } from "./one-request.ts";
import { overview } from "./overview.ts";
import { answer } from "./page.ts";
import { auditTask, reconcileTask } from "./proofs.ts";
import {
	AccountsSchema,
	KeysSchema,
	LogLevelSchema,
	OverviewSchema,
	RangeSchema,
	RefusalsSchema,
	SendsSchema,
	SignInSchema,
	TopUpsSchema,
	UsageSchema,
	WalletsSchema,
} from "./schema.ts";
import { signIn, signOut, whoAmI } from "./session.ts";
import { setLogLevel, settings } from "./settings.ts";
import type { Reconciliation } from "./types.ts";
import { usage, usageCsv } from "./usage.ts";

export type { ConsoleApiDeps } from "./deps.ts";
export { logLevelSetter } from "./log-level.ts";
export { serverStateReader } from "./server-state.ts";

/** The prefix of these routes. */
export const CONSOLE_API = "/console/api";

const DEFAULT_DAYS = 30;
const MAX_BODY_BYTES = 16_384;

const common = { name: "console", tag: "Console", summary: "The console's own", openAi: false, listLimit: false } as const;
// A mistake in the console must not block the key for the scripts that use it.
const signedIn = { ...common, callers: ["key"], right: "OPERATOR", failureGuard: false } as const;
const get = { ...signedIn, method: "GET" } as const;
const post = { ...signedIn, method: "POST" } as const;
const body = <Schema extends Type.TSchema>(schema: Schema) => ({ schema, maxBytes: MAX_BODY_BYTES });

export function consoleRoutes(deps: ConsoleApiDeps): Endpoint[] {
	return [...sessionRoutes(deps), ...readRoutes(deps), ...listRoutes(deps), ...proofRoutes(deps), ...workRoutes(deps)];
}

function sessionRoutes(deps: ConsoleApiDeps): Endpoint[] {
	return [
		plain({
			...common,
			method: "POST",
			path: "/session",
			callers: ["none"],
			body: body(SignInSchema),
			run: (input, call) => signIn(input.body, call, deps),
		}),
		plain({ ...get, path: "/session", run: (_input, call) => whoAmI(call, deps) }),
		plain({ ...signedIn, method: "DELETE", path: "/session", run: (_input, call) => signOut(call, deps) }),
	];
}

function readRoutes(deps: ConsoleApiDeps): Endpoint[] {
	return [
		plain({ ...get, path: "/models", run: () => models(deps) }),
		plain({ ...get, path: "/upstreams", run: () => upstreams(deps) }),
		plain({ ...get, path: "/networks", run: () => networks(deps) }),
		plain({ ...get, path: "/usage", query: UsageSchema, run: ({ query }) => usage(query, deps) }),
		plain({ ...get, path: "/usage.csv", query: UsageSchema, run: ({ query }) => usageCsv(query, deps) }),
		plain({ ...get, path: "/margin", query: RangeSchema, run: ({ query }) => margin(query, deps) }),
		plain({ ...get, path: "/requests/:id", run: ({ params }) => oneRequest(params.id ?? "", deps) }),
		plain({ ...get, path: "/settings", run: () => settings(deps) }),
	];
}

function listRoutes(deps: ConsoleApiDeps): Endpoint[] {
	return [
		plain({ ...get, path: "/accounts", query: AccountsSchema, run: ({ query }) => accounts(query, deps) }),
		plain({ ...get, path: "/keys", query: KeysSchema, run: ({ query }) => keys(query, deps) }),
		plain({ ...get, path: "/sends", query: SendsSchema, run: ({ query }) => sends(query, deps) }),
		plain({ ...get, path: "/refusals", query: RefusalsSchema, run: ({ query }) => refusals(query, deps) }),
		plain({ ...get, path: "/wallets", query: WalletsSchema, run: ({ query }) => wallets(query, deps) }),
		plain({ ...get, path: "/top-ups", query: TopUpsSchema, run: ({ query }) => topUps(query, deps) }),
	];
}

function proofRoutes(deps: ConsoleApiDeps): Endpoint[] {
	const audit = auditTask(deps);
	const reconcile = reconcileTask(deps);
	const nothingToReconcile: Reconciliation = {
		state: "never",
		startedAt: null,
		endedAt: null,
		report: null,
		error: "No receiver is configured (x402.payTo): there are no top-ups",
	};
	return [
		plain({
			...get,
			path: "/overview",
			query: OverviewSchema,
			run: ({ query }) => overview(query.days ?? DEFAULT_DAYS, audit.now(), deps),
		}),
		plain({ ...get, path: "/books", run: () => answer(audit.now()) }),
		plain({ ...post, path: "/books", run: () => answer(audit.start(), 202) }),
		plain({ ...get, path: "/reconcile", run: () => answer(reconcile?.now() ?? nothingToReconcile) }),
		plain({
			...post,
			path: "/reconcile",
			run: () => {
				if (reconcile !== null) return answer(reconcile.start(), 202);
				throw new ApiError("X402_NOT_CONFIGURED", { message: nothingToReconcile.error ?? "" });
			},
		}),
	];
}

function workRoutes(deps: ConsoleApiDeps): Endpoint[] {
	return [
		plain({ ...get, path: "/assets", run: () => assets(deps) }),
		plain({ ...post, path: "/assets/:name/pull", run: ({ params }) => pullAsset(params.name ?? "", deps) }),
		plain({ ...post, path: "/upstreams/:name/probe", run: ({ params }) => probe(params.name ?? "", deps) }),
		plain({
			...signedIn,
			method: "PUT",
			path: "/log-level",
			body: body(LogLevelSchema),
			run: (input) => setLogLevel(input.body, deps),
		}),
	];
}
