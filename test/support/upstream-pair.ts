/** Chat upstreams between a test and two scripted servers, `main` and `spare`. */
import type { UpstreamConfig } from "../../src/config/schema.ts";
import { ApiError, type ErrorCode } from "../../src/errors/index.ts";
import { silentLog } from "../../src/telemetry/log.ts";
import {
	type ChatUpstreamsOptions,
	createChatUpstreams,
	type RunningChatUpstreams,
} from "../../src/upstreams/chat/chat-upstreams.ts";
import type { ChatStream, EventBatch } from "../../src/upstreams/chat/port.ts";
import { chatForward, type ForwardOptions, HELLO, textModel } from "./chat-forward.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "./scripted-upstream.ts";

export const TIMEOUTS = { chatFirstByteMs: 60_000, chatIdleMs: 60_000, chatUnaryMs: 60_000, chatStreamTriesMs: 90_000 };
export const KEY = "upstream-secret-key";

/** A model that only `main` serves, and one that `spare` serves too, after it and under another name. */
export const ONE = textModel([{}]);
export const TWO = textModel([{}, { upstream: "spare", order: 1, model: "other-name" }]);

export function upstreamConfig(server: { readonly url: string }, overrides: Partial<UpstreamConfig> = {}): UpstreamConfig {
	return {
		url: server.url,
		key: KEY,
		dialect: "generic",
		discover: true,
		health: { failures: 3, probeEveryMs: 60_000 },
		...overrides,
	};
}

export class UpstreamPair {
	readonly main: ScriptedUpstream = startScriptedUpstream();
	readonly spare: ScriptedUpstream = startScriptedUpstream();
	readonly #running: RunningChatUpstreams[] = [];

	connect(options: Partial<ChatUpstreamsOptions> = {}): RunningChatUpstreams {
		const upstreams = createChatUpstreams({
			upstreams: { main: upstreamConfig(this.main), spare: upstreamConfig(this.spare) },
			timeouts: TIMEOUTS,
			log: silentLog,
			...options,
		});
		this.#running.push(upstreams);
		return upstreams;
	}

	unary(options: ForwardOptions = {}, upstreams = this.connect()) {
		return upstreams.whole(chatForward(HELLO, options));
	}

	open(options: ForwardOptions = {}, upstreams = this.connect()): ChatStream {
		return upstreams.stream(chatForward({ ...HELLO, stream: true }, options));
	}

	/** Between two tests. */
	reset(): void {
		for (const upstreams of this.#running.splice(0)) upstreams.close();
		for (const server of [this.main, this.spare]) server.reset();
	}

	async stop(): Promise<void> {
		await Promise.all([this.main.stop(), this.spare.stop()]);
	}
}

export interface Drained {
	/** The JSON text of each event. */
	readonly texts: string[];
	readonly done: boolean;
	/** null where the stream came to its proper end. */
	readonly error: unknown;
}

export async function drain(stream: ChatStream): Promise<Drained> {
	const texts: string[] = [];
	let done = false;
	const take = (batch: EventBatch) => {
		texts.push(...batch.events.map((event) => event.text));
		done ||= batch.done;
		return null;
	};
	const error = await stream.each(take).then(
		() => null,
		(thrown: unknown) => thrown,
	);
	return { texts, done, error };
}

export function contentOf(texts: readonly string[]): string {
	return texts.map((text) => JSON.parse(text).choices[0]?.delta.content ?? "").join("");
}

export async function codeOf(promise: Promise<unknown>): Promise<ErrorCode | string> {
	try {
		await promise;
		return "no error";
	} catch (error) {
		return error instanceof ApiError ? error.code : `not an ApiError: ${String(error)}`;
	}
}
