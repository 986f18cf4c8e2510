/** Entry point of the store thread. */
import { systemClock } from "../telemetry/clock.ts";
import { TermClock } from "./core/term-times.ts";
import { databasePath } from "./data-folder.ts";
import { asStoreFault } from "./sqlite/damage.ts";
import { refuseLostStore } from "./store-lost.ts";
import { type FromThread, sentError, type ThreadOptions, type ToThread, type WorkMessage } from "./thread-protocol.ts";

declare const self: Worker;

let thread: { receive(message: WorkMessage): void } | null = null;
const clock = new TermClock(systemClock);

const send = (message: FromThread): void => self.postMessage(message);

self.onmessage = async (event: MessageEvent<ToThread>) => {
	const message = event.data;
	try {
		if (message.type === "clock") clock.align(message.loopMs);
		else if (message.type === "open") thread = await open(message.options);
		else thread?.receive(message);
	} catch (error) {
		send({ type: "fatal", error: sentError(error) });
	}
};

async function open(options: ThreadOptions): Promise<{ receive(message: WorkMessage): void }> {
	const { postgres } = options;
	if (postgres === null) return openSqlite(options);
	const { openPostgresThread } = await import("./postgres/open-thread.ts");
	return openPostgresThread({ ...options, postgres }, clock, send);
}

async function openSqlite(options: ThreadOptions): Promise<{ receive(message: WorkMessage): void }> {
	try {
		refuseLostStore(options.dataDir);
		const { SqliteHost } = await import("./sqlite/sqlite-host.ts");
		const host = await SqliteHost.open({ ...options, shared: false }, 1);
		return await host.connect(0, send);
	} catch (error) {
		throw asStoreFault(databasePath(options.dataDir), error);
	}
}
