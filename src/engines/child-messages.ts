import type { PipedBytes } from "./byte-pipe.ts";

/**
 * What parent and child say to each other over the IPC channel. Work is the business of each engine; its large bytes follow
 * through a pipe.
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
