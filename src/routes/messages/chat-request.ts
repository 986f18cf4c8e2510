import type { ReasoningEffort, TextModel } from "../../catalog/types.ts";
import { type ChatBody, Conversation } from "../../completions/index.ts";
import type { Issue } from "../../errors/index.ts";
import { invalidField } from "../../schema/index.ts";
import type { LongStrings } from "../../wire/index.ts";
import { clientTool } from "./client-tools.ts";
import { addMessages, textsOf } from "./content-blocks.ts";
import type { CountTokensBody, MessagesBody, MessageTool } from "./schema.ts";

type Tools = NonNullable<ChatBody["tools"]>;

export interface MessagesChat {
	readonly body: ChatBody;
	/** The ignored parts of the request, for the caller. */
	readonly ignored: readonly string[];
	/** Returns the caller's name of a field of the chat request. */
	rename(path: Issue["path"]): Issue["path"];
}

/**
 * Converts the request to a chat request for this model.
 * @throws ApiError 400 for content without an equivalent
 */
export function chatRequest(
	request: MessagesBody | CountTokensBody,
	model: Pick<TextModel, "capabilities" | "maxCompletionTokens">,
	long: LongStrings,
): MessagesChat {
	refuseState(request);
	const conversation = new Conversation();
	const { system } = request;
	if (system !== undefined && system.length > 0) {
		conversation.from(-1);
		conversation.system("system", typeof system === "string" ? system : textsOf(system, ["system"]));
	}
	addMessages(conversation, request.messages, long);
	const messages = conversation.finish();
	if (messages.length === 0) throw invalidField(["messages"], "has nothing that goes to the model");
	const ignored: string[] = [];
	const body: ChatBody = {
		model: request.model,
		messages,
		...("max_tokens" in request ? sampling(request, model.maxCompletionTokens ?? null) : {}),
		...toolsOf(request, ignored),
		...thinkingOf(request, model),
		...formatOf(request),
		...serviceOf(request),
	};
	return { body, ignored, rename: (path) => renamePath(path, conversation) };
}

/**
 * Refuses with 400 options that need stored conversations. Anthropic's SDKs recognise the error code of a thread, and
 * may continue with the whole conversation.
 */
function refuseState({ thread, container }: CountTokensBody): void {
	const reason = "nothing is kept between requests; send the whole conversation as messages";
	if (thread !== undefined)
		throw invalidField(["thread"], reason, "unsupported", { anthropicCode: "thread_unsupported_request" });
	if (container !== undefined) throw invalidField(["container"], reason, "unsupported");
}

/**
 * Returns the sampling options. Clients must send a maximum, often that of another model; no more than this model's
 * maximum is held for.
 */
function sampling(request: MessagesBody, modelMaxTokens: number | null): Partial<ChatBody> {
	const { max_tokens, stop_sequences, stream, temperature, top_k, top_p } = request;
	return {
		max_completion_tokens: Math.min(max_tokens, modelMaxTokens ?? max_tokens),
		...(stop_sequences === undefined || stop_sequences.length === 0 ? {} : { stop: stop_sequences }),
		...(stream === true ? { stream: true } : {}),
		...(temperature === undefined ? {} : { temperature }),
		...(top_k === undefined ? {} : { top_k }),
		...(top_p === undefined ? {} : { top_p }),
	};
}

/** Returns the service options: a forced search is enabled. */
function serviceOf(request: CountTokensBody): Partial<ChatBody> {
	const { service_parameters: parameters } = request;
	if (mustSearch(request))
		return { service_parameters: { ...parameters, enable_web_search: parameters?.enable_web_search ?? "on" } };
	return parameters === undefined ? {} : { service_parameters: parameters };
}

/** Returns true if the choice is the hosted search: by its name, or as the only tool. */
function mustSearch({ tools = [], tool_choice: choice }: CountTokensBody): boolean {
	if (choice?.type === "any") return tools.length > 0 && tools.every(isSearch);
	return choice?.type === "tool" && tools.some((tool) => tool.name === choice.name && isSearch(tool));
}

function isSearch({ type }: MessageTool): boolean {
	return type?.startsWith("web_search_") === true;
}

function toolsOf(request: CountTokensBody, ignored: string[]): Partial<ChatBody> {
	const { tools = [], tool_choice: choice } = request;
	const converted: Tools = tools.flatMap((tool, index) => {
		const chatTool = toolOf(tool, index);
		if (chatTool === null) ignored.push(`tools[${index}] (${tool.type})`);
		return chatTool ?? [];
	});
	const alone = choice?.disable_parallel_tool_use === true;
	return {
		...(converted.length > 0 ? { tools: converted } : {}),
		...(choice === undefined || mustSearch(request) ? {} : { tool_choice: choiceOf(choice) }),
		...(alone ? { parallel_tool_calls: false } : {}),
	};
}

/** Returns the tool; null for one that Anthropic's servers run, which this service does not. */
function toolOf(tool: MessageTool, index: number): Tools[number] | null {
	const { type, name, description, input_schema, strict } = tool;
	if (isSearch(tool)) return { type: "web_search" };
	const known = clientTool(tool);
	if (known !== null)
		return { type: "function", function: { name, description: known.description, parameters: input_schema ?? known.parameters } };
	if (input_schema === undefined && type !== undefined && type !== null && type !== "custom") return null;
	if (input_schema === undefined) throw invalidField(["tools", index, "input_schema"], "is required", "required");
	const more = { ...(description ? { description } : {}), ...(typeof strict === "boolean" ? { strict } : {}) };
	return { type: "function", function: { name, parameters: input_schema, ...more } };
}

function choiceOf(choice: NonNullable<CountTokensBody["tool_choice"]>): NonNullable<ChatBody["tool_choice"]> {
	if (choice.type === "tool") return { type: "function", function: { name: choice.name } };
	return choice.type === "any" ? "required" : choice.type;
}

/**
 * Returns the thinking options. They are hints of clients that know only Anthropic's models: they are dropped where the
 * model does not take them, never refused.
 */
function thinkingOf(
	{ thinking, output_config }: CountTokensBody,
	{ capabilities }: Pick<TextModel, "capabilities">,
): Partial<ChatBody> {
	if (thinking?.type === "disabled") return { reasoning: { enabled: false } };
	const effort = output_config?.effort ?? effortOfBudget(thinking?.budget_tokens);
	const { supportsReasoningEffort, reasoningEffortOptions: options } = capabilities;
	const takes = effort !== null && supportsReasoningEffort === true && (options === undefined || options.includes(effort));
	if (takes) return { reasoning: { effort } };
	return thinking?.type === "enabled" ? { reasoning: { enabled: true } } : {};
}

const LOW_BUDGET = 4_096;
const MEDIUM_BUDGET = 16_384;

function effortOfBudget(tokens: number | null | undefined): ReasoningEffort | null {
	if (tokens === undefined || tokens === null) return null;
	return tokens <= LOW_BUDGET ? "low" : tokens <= MEDIUM_BUDGET ? "medium" : "high";
}

function formatOf({ output_config }: CountTokensBody): Partial<ChatBody> {
	const format = output_config?.format;
	if (!format) return {};
	return { response_format: { type: "json_schema", json_schema: { name: "response", strict: true, schema: format.schema } } };
}

const RENAMED: Readonly<Record<string, readonly string[]>> = {
	max_completion_tokens: ["max_tokens"],
	stop: ["stop_sequences"],
	response_format: ["output_config", "format"],
};

function renamePath(path: Issue["path"], conversation: Conversation): Issue["path"] {
	const [first, second, ...rest] = path;
	if (first === "messages" && typeof second === "number") {
		const source = conversation.sourceOf(second);
		// Blocks have other positions than the parts that they became.
		return source === -1 ? ["system"] : ["messages", source, ...rest.slice(0, 1).filter((name) => name === "content")];
	}
	if (first === "tool_choice" && second === "function") return [first, ...rest];
	const name = typeof first === "string" ? RENAMED[first] : undefined;
	return name === undefined ? path : [...name, ...path.slice(1)];
}
