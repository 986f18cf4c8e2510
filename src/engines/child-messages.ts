/** What parent and child say to each other over the IPC channel. Work is the business of each engine. */
export type ToChild =
	| { readonly type: "init"; readonly init: unknown }
	| { readonly type: "ping" }
	| { readonly type: "stop" }
	| { readonly type: "work"; readonly work: unknown };

export type FromChild =
	| { readonly type: "ready"; readonly ready: unknown }
	| { readonly type: "failed"; readonly text: string }
	| { readonly type: "pong"; readonly busy: boolean; readonly rssBytes: number }
	| { readonly type: "done"; readonly done: unknown };
