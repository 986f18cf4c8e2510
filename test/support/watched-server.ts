import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { ADMIN_KEY, type Served, type ServeOptions, serve } from "./served.ts";

/** What a turn of the event loop may take on an idle machine is 50 ms; ten times that holds on a slow one. */
export const LONGEST_TURN_MS = 500;

export interface Answered {
	readonly status: number;
	readonly text: string;
	/** Processor time of the longest turn of the event loop while it was answered. */
	readonly longestTurnMs: number;
	/** Resident memory of the server behind it. */
	readonly rssBytes: number;
}

/** A server in a process of its own whose event loop is measured. */
export interface WatchedServer {
	readonly served: Served;
	/** Sends a body to a path below /api/v1 and reads the answer whole. */
	post(path: string, body: string | Uint8Array | FormData, headers?: Readonly<Record<string, string>>): Promise<Answered>;
	/** The longest turn since it was asked before, and the memory now. */
	look(): Promise<Pick<Answered, "longestTurnMs" | "rssBytes">>;
	remove(): void;
}

export async function startWatchedServer(options: Omit<ServeOptions, "env"> = {}): Promise<WatchedServer> {
	const port = await freePort();
	const served = await serve({
		...options,
		env: { BUN_OPTIONS: `--preload ${join(import.meta.dir, "loop-watch.ts")}`, LOOP_WATCH_PORT: String(port) },
	});
	const look = async () =>
		(await (await fetch(`http://127.0.0.1:${port}/`)).json()) as Pick<Answered, "longestTurnMs" | "rssBytes">;
	return {
		served,
		async post(path, body, headers = { "content-type": "application/json" }) {
			await look();
			const answer = await fetch(`${served.url}/api/v1${path}`, {
				method: "POST",
				headers: { authorization: `Bearer ${ADMIN_KEY}`, ...(body instanceof FormData ? {} : headers) },
				body: body as Uint8Array<ArrayBuffer> | string | FormData,
			});
			const text = await answer.text();
			return { status: answer.status, text, ...(await look()) };
		},
		look,
		remove: () => served.remove(),
	};
}
