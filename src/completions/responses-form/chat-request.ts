import type { Issue } from "../../errors/index.ts";
import { invalidField } from "../../schema/index.ts";
import type { LongStrings } from "../../wire/index.ts";
import { Conversation } from "../conversation.ts";
import type { ChatBody } from "../schema.ts";
import { allowedFunctions, ClientTools, functionOfChoice, isSearch } from "./client-tools.ts";
import { InputItems } from "./input-items.ts";
import { type ResponsesBody, SERVICE_FIELDS } from "./schema.ts";

export const LOGPROBS = "message.output_text.logprobs";

export interface ResponsesChat {
	readonly body: ChatBody;
	/** The tools that the caller runs, by the names that the model uses. */
	readonly tools: ClientTools;
	/** Tools and items that are not sent to the model. */
	readonly ignored: readonly string[];
	/** Returns the caller's name of a field of the chat request. */
	rename(path: Issue["path"]): Issue["path"];
}

/** Options that need stored responses, which this service does not have. */
const STATEFUL: Readonly<Record<string, string>> = {
	previous_response_id: "nothing is kept between requests; send the whole conversation as input",
	conversation: "nothing is kept between requests; send the whole conversation as input",
	prompt: "no prompts are kept here; send instructions and input",
};

/**
 * Converts the request to a chat request.
 * @throws ApiError 400 for content without an equivalent
 */
export function chatRequest(request: ResponsesBody, long: LongStrings): ResponsesChat {
	refuseState(request);
	const conversation = new Conversation();
	const tools = new ClientTools(long);
	tools.add(request.tools ?? [], "tools");
	const items = new InputItems({ conversation, tools, long });
	const { input, instructions } = request;
	if (instructions !== undefined && instructions !== "") {
		conversation.from(-1);
		conversation.system("system", instructions);
	}
	if (typeof input === "string") conversation.user(input);
	else items.add(input);
	const messages = conversation.finish();
	if (messages.length === 0) throw invalidField(["input"], "must have at least one item", "too_small");
	const body: ChatBody = { model: request.model, messages, ...sampling(request), ...toolsOf(request, tools), ...textOf(request) };
	const ignored = [...tools.ignored, ...items.ignored];
	return { body, tools, ignored, rename: (path) => renamePath(path, conversation, typeof input === "string") };
}

function refuseState(request: ResponsesBody): void {
	for (const [field, reason] of Object.entries(STATEFUL))
		if (field in request) throw invalidField([field], reason, "unsupported");
	if (request.store === true) throw invalidField(["store"], "nothing is kept here; leave it out or send false", "unsupported");
	if (request.background === true) throw invalidField(["background"], "answers are not kept; use stream: true", "unsupported");
}

function sampling(request: ResponsesBody): Partial<ChatBody> {
	const { max_output_tokens, temperature, top_p, reasoning, prompt_cache_key, fallbacks, parallel_tool_calls } = request;
	const logprobs = request.include?.includes(LOGPROBS) === true;
	const service: Record<string, unknown> = {};
	for (const field of SERVICE_FIELDS)
		if (request.service_parameters?.[field] !== undefined) service[field] = request.service_parameters[field];
	if (request.web_search === true || isSearchChoice(request.tool_choice)) service.enable_web_search ??= "on";
	return {
		...(max_output_tokens === undefined ? {} : { max_completion_tokens: max_output_tokens }),
		...(temperature === undefined ? {} : { temperature }),
		...(top_p === undefined ? {} : { top_p }),
		...(reasoning?.effort || reasoning?.summary
			? { reasoning: { effort: reasoning.effort ?? null, summary: reasoning.summary ?? null } }
			: {}),
		...(prompt_cache_key === undefined ? {} : { prompt_cache_key }),
		...(fallbacks === undefined ? {} : { fallbacks }),
		...(parallel_tool_calls === undefined ? {} : { parallel_tool_calls }),
		...(logprobs ? { logprobs, ...(request.top_logprobs === undefined ? {} : { top_logprobs: request.top_logprobs }) } : {}),
		...(request.stream === true ? { stream: true } : {}),
		...(Object.keys(service).length > 0 ? { service_parameters: service } : {}),
	};
}

/** Returns true for a choice that forces a hosted search. */
function isSearchChoice(choice: ResponsesBody["tool_choice"]): boolean {
	return typeof choice === "object" && isSearch(choice.type);
}

function textOf({ text }: ResponsesBody): Partial<ChatBody> {
	const { format, verbosity } = text ?? {};
	const textOptions = verbosity ? { verbosity } : {};
	if (!format || format.type === "text") return textOptions;
	if (format.type === "json_object") return { ...textOptions, response_format: { type: "json_object" } };
	const { type, ...schema } = format;
	return { ...textOptions, response_format: { type, json_schema: schema } };
}

function toolsOf(request: ResponsesBody, clientTools: ClientTools): Partial<ChatBody> {
	const tools = clientTools.chatTools(allowedFunctions(request));
	const choice = choiceOf(request.tool_choice);
	return { ...(tools.length > 0 ? { tools } : {}), ...(choice === undefined ? {} : { tool_choice: choice }) };
}

function choiceOf(choice: ResponsesBody["tool_choice"]): ChatBody["tool_choice"] {
	if (choice === undefined || typeof choice === "string") return choice;
	if (choice.type === "allowed_tools") return "mode" in choice ? choice.mode : undefined;
	const name = functionOfChoice(choice);
	return name === undefined ? undefined : { type: "function", function: { name } };
}

const RENAMED: Readonly<Record<string, readonly string[]>> = {
	max_completion_tokens: ["max_output_tokens"],
	max_tokens: ["max_output_tokens"],
	response_format: ["text", "format"],
	verbosity: ["text", "verbosity"],
};

function renamePath(path: Issue["path"], conversation: Conversation, isText: boolean): Issue["path"] {
	const [first, second, ...rest] = path;
	if (first === "messages") {
		const source = typeof second === "number" ? conversation.sourceOf(second) : undefined;
		if (source === -1) return ["instructions"];
		return isText || source === undefined
			? ["input"]
			: ["input", source, ...rest.map((name) => (name === "tool_call_id" ? "call_id" : name))];
	}
	const name = typeof first === "string" ? RENAMED[first] : undefined;
	return name === undefined ? path : [...name, ...path.slice(1)];
}
