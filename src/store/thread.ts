/** Entry of the store thread. */
import { StoreThread } from "./store-thread.ts";
import { type FromThread, sentError, type ToThread } from "./thread-protocol.ts";

declare const self: Worker;

let thread: StoreThread | null = null;

const send = (message: FromThread): void => self.postMessage(message);

self.onmessage = (event: MessageEvent<ToThread>) => {
	const message = event.data;
	try {
		if (message.type === "open") thread = new StoreThread(message.options, send);
		else thread?.receive(message);
	} catch (error) {
		send({ type: "fatal", error: sentError(error) });
	}
};
