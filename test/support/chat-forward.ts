/** Chat calls as the route makes them, for tests that stand in the route's place. */
import type { ModelTarget, TextCapabilities, TextModel } from "../../src/catalog/types.ts";
import type { PicoPrice } from "../../src/ledger/nano.ts";
import type { ChatForward } from "../../src/upstreams/chat/port.ts";
import { LongStrings, topLevelMembers } from "../../src/wire/index.ts";

const CAPABILITIES: TextCapabilities = {
	optimizedForCode: false,
	quantization: "not-available",
	supportsAudioInput: null,
	supportsFunctionCalling: null,
	supportsLogProbs: null,
	supportsMultipleImages: null,
	supportsReasoning: null,
	supportsReasoningEffort: null,
	supportsResponseSchema: null,
	supportsTeeAttestation: false,
	supportsE2EE: false,
	supportsVision: null,
	supportsVideoInput: null,
	supportsWebSearch: false,
	supportsXSearch: false,
};

export function textModel(targets: readonly Partial<ModelTarget>[], capabilities: Partial<TextCapabilities> = {}): TextModel {
	return {
		id: "test-model",
		name: "Test model",
		type: "text",
		created: 0,
		traits: [],
		targets: targets.map((target) => ({ upstream: "main", model: "upstream/model:1", weight: 1, order: 0, ...target })),
		offline: false,
		public: {},
		capabilities: { ...CAPABILITIES, ...capabilities },
		prices: { input: 1 as PicoPrice, output: 1 as PicoPrice },
		contextTokens: null,
		maxCompletionTokens: null,
	};
}

export const HELLO = { model: "test-model", messages: [{ role: "user", content: "hello" }] };

export interface ForwardOptions {
	readonly model?: TextModel;
	/** How many are asked for; default: what the body says, or one. */
	readonly choices?: number;
	readonly edits?: ReadonlyMap<string, string | null>;
	readonly signal?: AbortSignal;
	readonly onSent?: (upstream: string) => void;
	readonly requestId?: string;
}

/** A call with this body: an object, or JSON text whose bytes matter. */
export function chatForward(body: object | string, options: ForwardOptions = {}): ChatForward {
	const text = typeof body === "string" ? body : JSON.stringify(body);
	const raw = new TextEncoder().encode(text);
	const { stream, n } = JSON.parse(text) as { readonly stream?: unknown; readonly n?: number };
	return {
		requestId: options.requestId ?? "0123456789abcdef0123456789abcdef",
		model: options.model ?? textModel([{}]),
		raw,
		long: LongStrings.none,
		members: topLevelMembers(raw),
		edits: options.edits ?? new Map(),
		stream: stream === true,
		choices: options.choices ?? n ?? 1,
		tenant: "test",
		signal: options.signal ?? new AbortController().signal,
		onSent: options.onSent ?? (() => {}),
	};
}
