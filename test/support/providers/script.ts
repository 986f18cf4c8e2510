/**
 * What a scripted provider says, in the provider's own protocol. Each script is written from the public API reference
 * that it names, and checks what it receives against it.
 */
import type { ProviderName } from "../../../src/config/providers.ts";

/** An answer as it is meant; each script tells it in its own words. */
export interface Scene {
	readonly thoughts: readonly string[];
	readonly text: readonly string[];
	/** Calls of tools; arguments in the pieces in which they stream. */
	readonly calls: readonly { readonly id: string; readonly name: string; readonly pieces: readonly string[] }[];
	readonly end: "stop" | "length" | "tool_calls" | "refused";
	/** `input` is the whole prompt, cached tokens and written ones included; `output` includes thoughts. */
	readonly usage: {
		readonly input: number;
		readonly cached: number;
		readonly written: number;
		readonly output: number;
		readonly thoughts: number;
	};
}

/** What is asked of a script's server, as it came. */
export interface ProviderRequest {
	readonly path: string;
	readonly headers: Headers;
	readonly body: Record<string, unknown>;
}

export interface ScriptedError {
	readonly status: number;
	readonly body: object | string;
	readonly headers?: Readonly<Record<string, string>>;
}

export interface ProviderScript {
	readonly provider: ProviderName;
	/** Of the upstream's entry. */
	readonly settings: { readonly key?: string; readonly options?: Readonly<Record<string, string>> };
	/** The provider's name of the model. */
	readonly model: string;
	/** Where requests go, below the address. */
	path(stream: boolean): string;
	readonly streamType: string;
	stream(scene: Scene): Uint8Array;
	whole(scene: Scene): object;
	/** What of the usage the provider tells at all. */
	readonly tells: { readonly cached: boolean; readonly written: boolean; readonly thoughts: boolean };
	/** What the reference does not allow in this request; empty where it is a good one. */
	complaints(request: ProviderRequest): string[];
	/** Its words for "too many requests", "no right", "bad request", "no such model", "broken". */
	readonly errors: Readonly<Record<"busy" | "account" | "request" | "missing" | "broken", ScriptedError>>;
	/** An error inside a stream that has begun with a 200; null where the reference knows none. */
	readonly streamError: Uint8Array | null;
}

const encoder = new TextEncoder();

/** Server-sent events: `event:` where there is a name, one line of data. */
export function sse(events: readonly (readonly [name: string | null, data: object | string])[]): Uint8Array {
	const text = events.map(([name, data]) => {
		const line = typeof data === "string" ? data : JSON.stringify(data);
		return `${name === null ? "" : `event: ${name}\n`}data: ${line}\n\n`;
	});
	return encoder.encode(text.join(""));
}

export function missing(value: unknown, what: string): string[] {
	return value === undefined || value === null || value === "" ? [`${what} is not there`] : [];
}

/** What was thought and said in small pieces, with letters of several bytes. */
export const TALK: Scene = {
	thoughts: ["They greet; ", "I greet – back."],
	text: ["Grüße, ", "Welt 🌍", '! "x"\n'],
	calls: [],
	end: "stop",
	usage: { input: 40, cached: 16, written: 8, output: 21, thoughts: 9 },
};

/** Two calls at once, their arguments in pieces. */
export const CALLS: Scene = {
	thoughts: ["Two look-ups."],
	text: ["One moment."],
	calls: [
		{ id: "call_a", name: "lookup", pieces: ['{"q":', '"tea ☕"', "}"] },
		{ id: "call_b", name: "lookup", pieces: ['{"q":"', 'cake"}'] },
	],
	end: "tool_calls",
	usage: { input: 60, cached: 0, written: 0, output: 30, thoughts: 4 },
};

/** Cut by the output maximum. */
export const CUT: Scene = {
	...TALK,
	thoughts: [],
	text: ["It goes on and"],
	end: "length",
	usage: { ...TALK.usage, thoughts: 0 },
};
