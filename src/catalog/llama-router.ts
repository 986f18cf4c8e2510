/** What llama.cpp reports on its models; in router mode one server loads several on demand. */
import { isRecord } from "../schema/is-record.ts";
import type { TextCapabilities } from "./types.ts";

/** States in which `/props` reports on a model without loading it. */
const RUNNING: ReadonlySet<unknown> = new Set(["loaded", "sleeping"]);

const CONTEXT_FLAGS: ReadonlySet<unknown> = new Set(["-c", "-ctx", "--ctx-size"]);
const SLOT_FLAGS: ReadonlySet<unknown> = new Set(["-np", "--parallel"]);
const SHARED_FLAGS: ReadonlySet<unknown> = new Set(["-kvu", "--kv-unified"]);

/** A model in a router's list. */
export interface RoutedModel {
	/** The model is running: its own `/props` reports its context. */
	readonly isRunning: boolean;
	/** The context with which it runs or would run, from the list or its command line; null if it is not reported. */
	readonly contextTokens: number | null;
}

/** Returns the models of a router's list by id; null if the list is of a server with one model. */
export function routedModels(list: unknown): ReadonlyMap<string, RoutedModel> | null {
	const items = isRecord(list) && Array.isArray(list.data) ? (list.data as unknown[]).filter(isRecord) : [];
	const routed = items.flatMap(({ id, status, meta }): (readonly [string, RoutedModel])[] => {
		if (typeof id !== "string" || !isRecord(status)) return [];
		const running = isRecord(meta) ? count(meta.n_ctx) : null;
		const isRunning = RUNNING.has(status.value);
		return [[id, { isRunning, contextTokens: running ?? contextOf(status.args) }]];
	});
	return routed.length === 0 ? null : new Map(routed);
}

/** Returns the path that describes one model. Older routers have no `autoload`, so only running models are queried. */
export function propsPath(id: string): string {
	return `/props?model=${encodeURIComponent(id)}&autoload=false`;
}

/** Returns `n_ctx` of a `/props` answer, which is that of one slot. */
export function contextOfProps(props: unknown): number | null {
	const settings = isRecord(props) ? props.default_generation_settings : undefined;
	return isRecord(settings) ? count(settings.n_ctx) : null;
}

/**
 * Returns what a `/props` answer says of media and tools; older servers say nothing of them. Without tools in its chat template
 * a model never sees those of a request.
 */
export function capabilitiesOfProps(props: unknown): Partial<TextCapabilities> {
	const { modalities, chat_template_caps: template } = isRecord(props) ? props : {};
	const { vision, audio, video = false } = isRecord(modalities) ? modalities : {};
	const { supports_tools: tools, supports_tool_calls: calls } = isRecord(template) ? template : {};
	return {
		...(typeof vision === "boolean" && { supportsVision: vision }),
		...(typeof audio === "boolean" && { supportsAudioInput: audio, supportsVideoInput: video === true }),
		...(typeof tools === "boolean" && { supportsFunctionCalling: tools || calls === true }),
	};
}

/** Returns the context of a command line. Slots share it, except with a unified cache, which each slot may use in full. */
function contextOf(args: unknown): number | null {
	if (!Array.isArray(args)) return null;
	const list = args as unknown[];
	const numberOf = (flags: ReadonlySet<unknown>): number | null => {
		const at = list.findLastIndex((arg) => flags.has(arg));
		return at < 0 ? null : count(Number(list[at + 1]));
	};
	const context = numberOf(CONTEXT_FLAGS);
	const slots = list.some((arg) => SHARED_FLAGS.has(arg)) ? 1 : (numberOf(SLOT_FLAGS) ?? 1);
	return context === null ? null : count(Math.floor(context / slots));
}

function count(value: unknown): number | null {
	return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : null;
}
