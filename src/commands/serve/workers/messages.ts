/** Messages between a worker and its supervisor, over the runtime's channel to child processes. */
import type { FromThread, ToThread } from "../../../store/thread-protocol.ts";
import type { WorkerAnswer } from "../../../telemetry/worker-peers.ts";

/** The environment variables in which a worker finds its number, and, where others serve already, that it joins them. */
export const WORKER_VARIABLE = "TURNPIKE_WORKER";
export const JOINS_VARIABLE = "TURNPIKE_WORKER_JOINS";

export type ToWorker =
	/** A message of the store thread that the supervisor runs for the worker; SQLite only. */
	| { readonly type: "store"; readonly message: FromThread }
	/** Answered at once, so that a worker whose event loop stands still is noticed. */
	| { readonly type: "ping" }
	/** A question of a worker to all. */
	| { readonly type: "ask"; readonly id: number; readonly question: string; readonly input: string }
	/** Answers `gather`. */
	| { readonly type: "gathered"; readonly id: number; readonly answers: readonly WorkerAnswer[] };

export type FromWorker =
	| { readonly type: "store"; readonly message: ToThread }
	/** The worker answers requests at this address. */
	| { readonly type: "serving"; readonly url: string }
	| { readonly type: "pong" }
	| { readonly type: "answer"; readonly id: number; readonly answer: unknown }
	/** Asks all workers. */
	| { readonly type: "gather"; readonly id: number; readonly question: string; readonly input: string };
