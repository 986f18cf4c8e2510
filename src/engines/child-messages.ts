import type { PipedBytes } from "./byte-pipe.ts";

/**
 * The messages between parent and child over the IPC channel. Each engine defines its own work; large bytes follow through a
 * pipe.
 */
export type ToChild =
	| { readonly type: "init"; readonly init: unknown }
	| { readonly type: "ping" }
	| { readonly type: "stop" }
	| { readonly type: "work"; readonly work: unknown; readonly piped: readonly PipedBytes[] };

export type FromChild =
	| { readonly type: "ready"; readonly ready: unknown }
	| { readonly type: "failed"; readonly text: string }
	| { readonly type: "pong"; readonly busy: boolean; readonly rssBytes: number }
	| { readonly type: "done"; readonly done: unknown; readonly piped: readonly PipedBytes[] };
