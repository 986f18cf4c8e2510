/**
 * The HTTP server: endpoints are declared, one pipeline runs them all (pipeline.ts). Promises the order of
 * checks, one error table, X-Request-ID everywhere, holds that end with their request. Knows no endpoint.
 */
export { API_PREFIX, type App, createApp, errorResponse, type SidePage, withRequestId, wrongMethod } from "./app.ts";
export { Call } from "./call.ts";
export { addressList, clientAddress, isLoopback } from "./client-address.ts";
export type { Connection } from "./connection.ts";
export { docsPage } from "./docs-page.ts";
export {
	type Admission,
	type Answer,
	type Endpoint,
	type Input,
	json,
	type MeteredAnswer,
	metered,
	plain,
	type Settlement,
} from "./endpoint.ts";
export { readIdempotencyKey } from "./idempotency-key.ts";
export { freePort, ListenError, type Listening, listen, listenProblem, PortTakenError } from "./listen.ts";
export { openApiDocument } from "./openapi.ts";
export type { PipelineDeps, PipelineSettings } from "./pipeline-deps.ts";
export { BodyMemory } from "./read-body.ts";
export { preferredEncoding } from "./respond.ts";
export type { SignedInWallet, WalletAuth } from "./wallet-auth.ts";
