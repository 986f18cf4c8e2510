import { type ChatBody, Conversation } from "../../completions/index.ts";
import type { Issue } from "../../errors/index.ts";
import { invalidField } from "../../schema/index.ts";
import type { LongStrings } from "../../wire/index.ts";
import { addItems } from "./input-items.ts";
import { type ResponsesBody, type ResponseTool, SERVICE_FIELDS } from "./schema.ts";

type Tools = NonNullable<ChatBody["tools"]>;
type FunctionDefinition = Extract<Tools[number], { function: object }>["function"];

export const LOGPROBS = "message.output_text.logprobs";

export interface ResponsesChat {
	readonly body: ChatBody;
	/** The caller's name of a field of the chat request. */
	rename(path: Issue["path"]): Issue["path"];
}

/** What needs a memory of ours, which there is none of. */
const STATEFUL: Readonly<Record<string, string>> = {
	previous_response_id: "nothing is kept between requests; send the whole conversation as input",
	conversation: "nothing is kept between requests; send the whole conversation as input",
	prompt: "no prompts are kept here; send instructions and input",
};

/** The chat request that says the same. Throws 400 for what cannot be said. */
export function chatRequest(request: ResponsesBody, long: LongStrings): ResponsesChat {
	refuseState(request);
	const conversation = new Conversation();
	const { input, instructions } = request;
	if (instructions !== undefined && instructions !== "") {
		conversation.from(-1);
		conversation.system("system", instructions);
	}
	if (typeof input === "string") conversation.user(input);
	else addItems(conversation, input, long);
	const messages = conversation.finish();
	if (messages.length === 0) throw invalidField(["input"], "must have at least one item", "minItems");
	const body: ChatBody = { model: request.model, messages, ...sampling(request), ...toolsOf(request), ...textOf(request) };
	return { body, rename: (path) => renamed(path, conversation, typeof input === "string") };
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
	if (request.web_search === true || isSearch(request.tool_choice)) service.enable_web_search ??= "on";
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

/** A hosted search that has to run. */
function isSearch(choice: ResponsesBody["tool_choice"]): boolean {
	return typeof choice === "object" && /^web_search(_preview)?$/.test(choice.type);
}

function textOf({ text }: ResponsesBody): Partial<ChatBody> {
	const { format, verbosity } = text ?? {};
	const asked = verbosity ? { verbosity } : {};
	if (!format || format.type === "text") return asked;
	if (format.type === "json_object") return { ...asked, response_format: { type: "json_object" } };
	const { type, ...schema } = format;
	return { ...asked, response_format: { type, json_schema: schema } };
}

function toolsOf(request: ResponsesBody): Partial<ChatBody> {
	const allowed = allowedNames(request);
	const tools = (request.tools ?? []).flatMap(toolOf).filter((tool) => isAllowed(tool, allowed));
	const choice = choiceOf(request.tool_choice);
	return { ...(tools.length > 0 ? { tools } : {}), ...(choice === undefined ? {} : { tool_choice: choice }) };
}

/** Hosted tools that we do not have are left out. */
function toolOf(tool: ResponseTool): Tools {
	if (tool.type === "function") {
		if ("function" in tool && isNamed(tool.function)) return [{ type: "function", function: definitionOf(tool.function) }];
		return "name" in tool ? [{ type: "function", function: definitionOf(tool) }] : [];
	}
	if (tool.type === "web_search" || tool.type === "web_search_preview") return [{ type: "web_search" }];
	return tool.type === "x_search" ? [{ type: "x_search" }] : [];
}

/** What stands beside the fields of another form is anything: only by its name is it told from what was meant. */
function isNamed(value: unknown): value is { readonly name: string } {
	return typeof value === "object" && value !== null && "name" in value && typeof value.name === "string";
}

function definitionOf({ name, description, parameters, strict }: FunctionDefinition): FunctionDefinition {
	return {
		name,
		...(description ? { description } : {}),
		...(parameters ? { parameters } : {}),
		...(typeof strict === "boolean" ? { strict } : {}),
	};
}

function choiceOf(choice: ResponsesBody["tool_choice"]): ChatBody["tool_choice"] {
	if (choice === undefined || typeof choice === "string") return choice;
	if (choice.type === "allowed_tools") return "mode" in choice ? choice.mode : undefined;
	if (choice.type !== "function") return undefined;
	if ("function" in choice && isNamed(choice.function)) return { type: "function", function: { name: choice.function.name } };
	return "name" in choice ? { type: "function", function: { name: choice.name } } : undefined;
}

/** Functions that `allowed_tools` names; null where all may be called. */
function allowedNames({ tool_choice: choice }: ResponsesBody): ReadonlySet<string> | null {
	if (typeof choice !== "object" || choice.type !== "allowed_tools" || !("tools" in choice)) return null;
	return new Set(choice.tools.flatMap(({ type, name }) => (type === "function" && name !== undefined ? [name] : [])));
}

function isAllowed(tool: Tools[number], allowed: ReadonlySet<string> | null): boolean {
	return allowed === null || !("function" in tool) || allowed.has(tool.function.name);
}

const RENAMED: Readonly<Record<string, readonly string[]>> = {
	max_completion_tokens: ["max_output_tokens"],
	max_tokens: ["max_output_tokens"],
	response_format: ["text", "format"],
	verbosity: ["text", "verbosity"],
};

function renamed(path: Issue["path"], conversation: Conversation, isText: boolean): Issue["path"] {
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
