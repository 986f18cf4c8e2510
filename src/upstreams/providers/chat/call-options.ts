import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool, LanguageModelV4ToolChoice } from "@ai-sdk/provider";
import type { TextModel } from "../../../catalog/types.ts";
import type { ProviderName } from "../../../config/providers.ts";
import { ApiError } from "../../../errors/index.ts";
import { isRecord } from "../../../schema/is-record.ts";
import { defined } from "../defined.ts";
import { type ChatCapabilities, mergedOptions } from "./chat-capabilities.ts";
import type { Fields } from "./fields.ts";
import { promptOf } from "./prompt.ts";
import { thinkingOf } from "./thinking.ts";

type Schema = LanguageModelV4FunctionTool["inputSchema"];

export interface CallOptionsInput {
	readonly provider: ProviderName;
	readonly capabilities: ChatCapabilities;
	/** The request in PROVIDER_DIALECT. */
	readonly body: Fields;
	readonly model: TextModel;
	/** The provider's own name for the model. */
	readonly upstreamModel: string;
}

const ANY_OBJECT: Schema = { type: "object", additionalProperties: true };
const NO_ARGUMENTS: Schema = { type: "object", properties: {} };

/** Returns a chat request as options of a package's model. Throws ApiError for requests that no provider supports. */
export async function callOptionsOf(inputs: CallOptionsInput): Promise<LanguageModelV4CallOptions> {
	const { provider, capabilities, body, model, upstreamModel } = inputs;
	if (typeof body.n === "number" && body.n > 1)
		throw new ApiError("INVALID_REQUEST", { message: "n: this model gives one choice for a request", param: "n" });
	const prompt = promptOf({ provider, capabilities, messages: Array.isArray(body.messages) ? body.messages : [] });
	const effort = effortOf(body.reasoning_effort, model);
	const own = capabilities.needsMaximum ? (model.maxCompletionTokens ?? undefined) : undefined;
	const maximum = numberOf(body.max_completion_tokens) ?? own;
	const thinking = await thinkingOf({ capabilities, model: upstreamModel, effort, maxOutputTokens: maximum, prompt });
	const thinks = effort === undefined ? model.capabilities.supportsReasoning === true : effort !== "none";
	const format = responseFormatOf(body.response_format, capabilities);
	const tools = toolsOf(body.tools);
	const hosted = body.x_search === true && capabilities.searchX !== undefined ? [capabilities.searchX] : [];
	const options: LanguageModelV4CallOptions = {
		prompt,
		...defined({
			maxOutputTokens: thinking.maxOutputTokens,
			temperature: numberOf(body.temperature),
			topP: numberOf(body.top_p),
			topK: capabilities.raw?.includes("top_k") ? undefined : numberOf(body.top_k),
			presencePenalty: numberOf(body.presence_penalty),
			frequencyPenalty: numberOf(body.frequency_penalty),
			seed: numberOf(body.seed),
			stopSequences: stopOf(body.stop),
			responseFormat: format,
			reasoning: thinking.reasoning,
			tools: tools.length + hosted.length > 0 ? [...tools, ...hosted] : undefined,
			toolChoice: tools.length > 0 ? toolChoiceOf(body.tool_choice) : undefined,
		}),
		providerOptions: mergedOptions(
			ownOptions(body, capabilities),
			thinks ? capabilities.showThoughts : undefined,
			thinking.options,
			tools.length > 0 && body.parallel_tool_calls === false ? capabilities.oneToolAtATime : undefined,
		),
	};
	return options;
}

/**
 * Returns the options in the provider's own namespace: constant ones, renamed members, raw members, and the strictness
 * of a schema.
 */
function ownOptions(body: Fields, { namespace, always, named = {}, raw = [], strictSchema }: ChatCapabilities) {
	const own: Record<string, unknown> = { ...always };
	for (const [ours, theirs] of Object.entries(named)) if (ours in body) own[theirs] = body[ours];
	// A plain text format is the default everywhere.
	for (const name of raw) if (name in body && !(name === "response_format" && isPlainText(body[name]))) own[name] = body[name];
	const schema = schemaFormat(body.response_format);
	if (strictSchema !== undefined && schema) own[strictSchema] = schema.strict === true;
	return { [namespace]: own as Record<string, never> };
}

function isPlainText(format: unknown): boolean {
	return !isRecord(format) || format.type === "text";
}

function schemaFormat(format: unknown): Fields | undefined {
	return isRecord(format) && format.type === "json_schema" && isRecord(format.json_schema) ? format.json_schema : undefined;
}

function responseFormatOf(format: unknown, capabilities: ChatCapabilities): LanguageModelV4CallOptions["responseFormat"] {
	if (isPlainText(format)) return undefined;
	const jsonSchema = schemaFormat(format);
	if (jsonSchema === undefined)
		return { type: "json", ...(capabilities.jsonObjectAsSchema ? { schema: ANY_OBJECT, name: "response" } : {}) };
	const { name, description, schema } = jsonSchema;
	return {
		type: "json",
		...(isRecord(schema) ? { schema: schema as Schema } : {}),
		...(typeof name === "string" ? { name } : {}),
		...(typeof description === "string" ? { description } : {}),
	};
}

/** Returns the effort. `none` has no meaning for a model that does not reason, and some providers refuse it. */
function effortOf(effort: unknown, model: TextModel): NonNullable<LanguageModelV4CallOptions["reasoning"]> | undefined {
	switch (effort) {
		case "none":
			return model.capabilities.supportsReasoning === true ? effort : undefined;
		case "minimal":
		case "low":
		case "medium":
		case "high":
		case "xhigh":
		case "max":
			return effort;
		default:
			return undefined;
	}
}

function toolsOf(tools: unknown): LanguageModelV4FunctionTool[] {
	if (!Array.isArray(tools)) return [];
	return tools.filter(isRecord).flatMap(({ function: defined }) => {
		if (!isRecord(defined)) return [];
		const { name, description, parameters, strict } = defined;
		return {
			type: "function",
			name: String(name),
			inputSchema: isRecord(parameters) ? (parameters as Schema) : NO_ARGUMENTS,
			...(typeof description === "string" ? { description } : {}),
			...(typeof strict === "boolean" ? { strict } : {}),
		};
	});
}

function toolChoiceOf(choice: unknown): LanguageModelV4ToolChoice | undefined {
	if (choice === "auto" || choice === "none" || choice === "required") return { type: choice };
	if (isRecord(choice) && isRecord(choice.function)) return { type: "tool", toolName: String(choice.function.name) };
	return undefined;
}

function stopOf(stop: unknown): string[] | undefined {
	if (typeof stop === "string") return [stop];
	if (!Array.isArray(stop)) return undefined;
	const texts = stop.filter((text): text is string => typeof text === "string");
	return texts.length > 0 ? texts : undefined;
}

function numberOf(value: unknown): number | undefined {
	return typeof value === "number" ? value : undefined;
}
