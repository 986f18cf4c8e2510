/**
 * Entry point of the reader's thread: it has one store, which the first read opens, whatever the server beside it
 * does.
 */
import { type AdminStore, openAdmin } from "../admin/open-admin.ts";
import { sentError } from "../thread-protocol.ts";
import type { FromReader, ToReader } from "./reader-messages.ts";
import { runRead } from "./reads.ts";

declare const self: Worker;

let place = "";
let store: AdminStore | null = null;

const send = (message: FromReader): void => self.postMessage(message);

self.onmessage = async ({ data }: MessageEvent<ToReader>) => {
	if (data.type === "open") {
		place = data.place;
		return;
	}
	const { id, name, input } = data;
	try {
		store ??= openAdmin(place);
		send({ type: "answer", id, answer: await runRead(store, name, input) });
	} catch (error) {
		send({ type: "refusal", id, error: sentError(error) });
	}
};
