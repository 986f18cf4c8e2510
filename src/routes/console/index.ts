/**
 * What the pages of the console read and change (docs/console-api.md), below /console/api. It is asked for by signed-in
 * sessions alone, with the rights of their ADMIN key. What it reads comes from the books beside the server's own work;
 * what it changes goes through the same operations as the API and the command line.
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

/** Where these routes stand. */
export const CONSOLE_API = "/console/api";

const DEFAULT_DAYS = 30;
const MAX_BODY_BYTES = 16_384;

const common = { name: "console", tag: "Console", summary: "The console's own", openAi: false, listLimit: false } as const;
// What is mistyped here must not block the key for the scripts that have it, too.
const signedIn = { ...common, callers: ["key"], right: "OPERATOR", failureGuard: false } as const;
const get = { ...signedIn, method: "GET" } as const;
const post = { ...signedIn, method: "POST" } as const;
const body = <Schema extends Type.TSchema>(schema: Schema) => ({ schema, maxBytes: MAX_BODY_BYTES });

export function consoleRoutes(parts: ConsoleApiDeps): Endpoint[] {
	return [...sessionRoutes(parts), ...readRoutes(parts), ...listRoutes(parts), ...proofRoutes(parts), ...workRoutes(parts)];
}

function sessionRoutes(parts: ConsoleApiDeps): Endpoint[] {
	return [
		plain({
			...common,
			method: "POST",
			path: "/session",
			callers: ["none"],
			body: body(SignInSchema),
			run: (input, call) => signIn(input.body, call, parts),
		}),
		plain({ ...get, path: "/session", run: (_input, call) => whoAmI(call, parts) }),
		plain({ ...signedIn, method: "DELETE", path: "/session", run: (_input, call) => signOut(call, parts) }),
	];
}

function readRoutes(parts: ConsoleApiDeps): Endpoint[] {
	return [
		plain({ ...get, path: "/models", run: () => models(parts) }),
		plain({ ...get, path: "/upstreams", run: () => upstreams(parts) }),
		plain({ ...get, path: "/networks", run: () => networks(parts) }),
		plain({ ...get, path: "/usage", query: UsageSchema, run: ({ query }) => usage(query, parts) }),
		plain({ ...get, path: "/usage.csv", query: UsageSchema, run: ({ query }) => usageCsv(query, parts) }),
		plain({ ...get, path: "/margin", query: RangeSchema, run: ({ query }) => margin(query, parts) }),
		plain({ ...get, path: "/requests/:id", run: ({ params }) => oneRequest(params.id ?? "", parts) }),
		plain({ ...get, path: "/settings", run: () => settings(parts) }),
	];
}

function listRoutes(parts: ConsoleApiDeps): Endpoint[] {
	return [
		plain({ ...get, path: "/accounts", query: AccountsSchema, run: ({ query }) => accounts(query, parts) }),
		plain({ ...get, path: "/keys", query: KeysSchema, run: ({ query }) => keys(query, parts) }),
		plain({ ...get, path: "/sends", query: SendsSchema, run: ({ query }) => sends(query, parts) }),
		plain({ ...get, path: "/refusals", query: RefusalsSchema, run: ({ query }) => refusals(query, parts) }),
		plain({ ...get, path: "/wallets", query: WalletsSchema, run: ({ query }) => wallets(query, parts) }),
		plain({ ...get, path: "/top-ups", query: TopUpsSchema, run: ({ query }) => topUps(query, parts) }),
	];
}

function proofRoutes(parts: ConsoleApiDeps): Endpoint[] {
	const audit = auditTask(parts);
	const reconcile = reconcileTask(parts);
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
			run: ({ query }) => overview(query.days ?? DEFAULT_DAYS, audit.now(), parts),
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

function workRoutes(parts: ConsoleApiDeps): Endpoint[] {
	return [
		plain({ ...get, path: "/assets", run: () => assets(parts) }),
		plain({ ...post, path: "/assets/:name/pull", run: ({ params }) => pullAsset(params.name ?? "", parts) }),
		plain({ ...post, path: "/upstreams/:name/probe", run: ({ params }) => probe(params.name ?? "", parts) }),
		plain({
			...signedIn,
			method: "PUT",
			path: "/log-level",
			body: body(LogLevelSchema),
			run: (input) => setLogLevel(input.body, parts),
		}),
	];
}
