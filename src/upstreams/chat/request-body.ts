import type { TextModel } from "../../catalog/types.ts";
import { spliceMembers } from "../../wire/index.ts";
import { BodyView, memberOf, parseSlice } from "../body-view.ts";
import { type Dialect, NEVER_FORWARDED, PLAIN_FIELDS, type PlainField } from "./dialects.ts";
import type { ChatForward } from "./port.ts";
import { rewriteMessages } from "./request-messages.ts";
import { shapeResponseFormat, shapeTools } from "./request-tools.ts";

export type ShapedRequest = Pick<ChatForward, "raw" | "members" | "edits" | "stream" | "model">;

/** One step of shaping, with the keys that trigger it. */
interface Step {
	readonly keys: readonly string[];
	shape(body: BodyView, dialect: Dialect, model: TextModel): void;
}

/** The steps in order: thinking reads members that a later step removes. */
const STEPS: readonly Step[] = [
	{ keys: ["reasoning", "reasoning_effort", "service_parameters"], shape: shapeThinking },
	{ keys: NEVER_FORWARDED, shape: dropOurs },
	{ keys: ["max_completion_tokens", "max_tokens"], shape: shapeOutputMaximum },
	{ keys: ["tools", "tool_choice", "parallel_tool_calls"], shape: shapeTools },
	{ keys: ["response_format"], shape: shapeResponseFormat },
	{ keys: ["logprobs", "top_logprobs"], shape: shapeLogprobs },
	{ keys: ["min_temp", "max_temp"], shape: shapeTemperature },
	{ keys: ["verbosity", "text"], shape: shapeVerbosity },
	{ keys: ["prompt_cache_retention"], shape: shapeCacheRetention },
	{ keys: PLAIN_FIELDS, shape: shapePlainFields },
	{ keys: ["messages"], shape: shapeMessages },
];

/** The steps that a key triggers, as bits. */
const STEPS_OF_KEY = new Map<string, number>();
for (const [index, { keys }] of STEPS.entries())
	for (const key of keys) STEPS_OF_KEY.set(key, (STEPS_OF_KEY.get(key) ?? 0) | (1 << index));

/**
 * Returns the body for this upstream (docs/chat.md): its name of the model, its names of our fields, without fields
 * that it does not know. Unchanged members, messages among them, go out byte for byte.
 */
export function shapeChatBody(call: ShapedRequest, upstreamModel: string, dialect: Dialect): Uint8Array {
	const body = new BodyView(call.raw, call.members, call.edits);
	if (body.value("model") !== upstreamModel) body.set("model", JSON.stringify(upstreamModel));
	shapeStream(body, call.stream);
	let triggered = 0;
	for (const key of body.keys()) triggered |= STEPS_OF_KEY.get(key) ?? 0;
	for (let index = 0; triggered !== 0; index++, triggered >>>= 1)
		if (triggered & 1) STEPS[index]?.shape(body, dialect, call.model);
	return spliceMembers(call.raw, call.members, body.edits);
}

function dropOurs(body: BodyView): void {
	for (const key of NEVER_FORWARDED) body.drop(key);
}

function shapeMessages(body: BodyView, dialect: Dialect): void {
	const messages = body.slice("messages");
	const rewritten = messages && rewriteMessages(messages, dialect);
	if (rewritten) body.set("messages", rewritten);
}

/** Always requests usage, which decides the price. stream_options of the caller are for us, not for the upstream. */
function shapeStream(body: BodyView, stream: boolean): void {
	const requested = body.value("stream");
	if (requested === undefined && !stream) body.drop("stream");
	else if (requested !== stream) body.set("stream", String(stream));
	if (stream) body.set("stream_options", '{"include_usage":true}');
	else body.drop("stream_options");
}

/** Sets the output maximum: max_completion_tokens wins, and values of 0 or less count as unset (docs/chat.md). */
function shapeOutputMaximum(body: BodyView, dialect: Dialect): void {
	const maximum = [body.value("max_completion_tokens"), body.value("max_tokens")].find(
		(value) => typeof value === "number" && value > 0,
	);
	for (const name of ["max_completion_tokens", "max_tokens"] as const) {
		if (maximum === undefined || name !== dialect.maxTokens) body.drop(name);
		else if (body.value(name) !== maximum) body.set(name, JSON.stringify(maximum));
	}
}

/** Sets logprobs. top_logprobs counts only with logprobs; a model without them gets neither (docs/chat.md). */
function shapeLogprobs(body: BodyView, dialect: Dialect, model: TextModel): void {
	const known = dialect.logprobs && model.capabilities.supportsLogProbs !== false;
	if (!known || !body.slice("logprobs")) body.drop("logprobs");
	if (!known || body.value("logprobs") !== true || !body.slice("top_logprobs")) body.drop("top_logprobs");
}

/** Sets dynamic temperature between two bounds; if one bound is absent, the plain temperature replaces it. */
function shapeTemperature(body: BodyView, dialect: Dialect): void {
	const [min, max, plain] = [body.value("min_temp"), body.value("max_temp"), body.value("temperature")];
	body.drop("min_temp");
	body.drop("max_temp");
	if (!dialect.dynamicTemperature || (min === undefined && max === undefined)) return;
	const [low, high] = [min ?? plain, max ?? plain];
	if (typeof low !== "number" || typeof high !== "number" || low > high) return;
	body.set("temperature", JSON.stringify(round((low + high) / 2)));
	body.set(dialect.dynamicTemperature, JSON.stringify(round((high - low) / 2)));
}

/** Rounds 0.30000000000000004 to 0.3. */
function round(value: number): number {
	return Math.round(value * 1e6) / 1e6;
}

function shapeVerbosity(body: BodyView, dialect: Dialect): void {
	const text = memberOf(body.slice("text"), "verbosity");
	const verbosity = body.value("verbosity") ?? (text && parseSlice(text));
	body.drop("text");
	if (!dialect.verbosity || typeof verbosity !== "string" || verbosity === "auto") body.drop("verbosity");
	else if (body.value("verbosity") !== verbosity) body.set("verbosity", JSON.stringify(verbosity));
}

function shapeCacheRetention(body: BodyView, dialect: Dialect): void {
	const retention = body.value("prompt_cache_retention");
	const name = dialect.cacheRetention?.[String(retention)];
	if (name === undefined) body.drop("prompt_cache_retention");
	else if (name !== retention) body.set("prompt_cache_retention", JSON.stringify(name));
}

/** Sets the plain fields. Null and an empty list mean absent (docs/chat.md), which servers need not know. */
function shapePlainFields(body: BodyView, dialect: Dialect): void {
	for (const key of body.keys()) {
		if (!isPlainField(key) || !body.has(key)) continue;
		const known = dialect.plain[key];
		const slice = body.slice(key);
		if (!known || !slice || isEmptyList(slice)) body.drop(key);
		else if (known !== true) body.rename(key, known);
	}
}

const PLAIN_FIELD_NAMES: ReadonlySet<string> = new Set(PLAIN_FIELDS);

function isPlainField(key: string): key is PlainField {
	return PLAIN_FIELD_NAMES.has(key);
}

function isEmptyList(slice: { readonly bytes: Uint8Array; readonly start: number; readonly end: number }): boolean {
	if (slice.bytes[slice.start] !== 0x5b) return false;
	for (let at = slice.start + 1; at < slice.end - 1; at++) if ((slice.bytes[at] ?? 0) > 0x20) return false;
	return true;
}

/**
 * Sets thinking by, in this order, disable_thinking or enabled false, reasoning_effort, reasoning.effort
 * (docs/chat.md).
 */
function shapeThinking(body: BodyView, dialect: Dialect, model: TextModel): void {
	const reasoning = body.slice("reasoning");
	const enabled = memberOf(reasoning, "enabled");
	const disabled = memberOf(body.slice("service_parameters"), "disable_thinking");
	const off = (enabled && parseSlice(enabled) === false) || (disabled && parseSlice(disabled) === true);
	const nested = memberOf(reasoning, "effort");
	const effort = body.value("reasoning_effort") ?? (nested && parseSlice(nested));
	if (off) turnThinkingOff(body, model, dialect);
	else if (dialect.effort === "reasoning") {
		body.drop("reasoning_effort");
		const known = Object.entries({ summary: memberOf(reasoning, "summary"), enabled });
		const others = known.flatMap(([key, slice]) => (slice ? [[key, parseSlice(slice)] as const] : []));
		const shaped = { ...(typeof effort === "string" ? { effort } : {}), ...Object.fromEntries(others) };
		if (Object.keys(shaped).length > 0) body.set("reasoning", JSON.stringify(shaped));
		else body.drop("reasoning");
	} else {
		body.drop("reasoning");
		if (typeof effort !== "string") body.drop("reasoning_effort");
		else body.set("reasoning_effort", JSON.stringify(dialect.efforts?.[effort] ?? effort));
	}
}

function turnThinkingOff(body: BodyView, model: TextModel, dialect: Dialect): void {
	body.drop("reasoning");
	body.drop("reasoning_effort");
	switch (dialect.thinkingOff) {
		case "chat_template_kwargs": {
			const kwargs = body.value("chat_template_kwargs");
			const others = typeof kwargs === "object" && kwargs !== null && !Array.isArray(kwargs) ? kwargs : {};
			// Templates have one of two names for the switch and ignore the other.
			body.set("chat_template_kwargs", JSON.stringify({ ...others, enable_thinking: false, thinking: false }));
			return;
		}
		case "reasoning_enabled":
			body.set("reasoning", '{"enabled":false}');
			return;
		case "effort_none":
			body.set("reasoning_effort", '"none"');
			return;
		case "listed_effort":
			// A model that does not know the value answers 400, so its entry must list it.
			if (model.capabilities.reasoningEffortOptions?.includes("none")) body.set("reasoning_effort", '"none"');
			return;
	}
}
