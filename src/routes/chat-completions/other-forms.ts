import { ClientTools, chatRequest, ResponsesBodySchema, ToolSchema } from "../../completions/responses-form/index.ts";
import { checker, invalidRequest } from "../../schema/index.ts";
import { isRecord } from "../../schema/is-record.ts";
import type { LongStrings } from "../../wire/index.ts";
import { functionsAsTools } from "./older-functions.ts";

type Body = Readonly<Record<string, unknown>>;

const responsesBody = checker(ResponsesBodySchema);
const responsesTool = checker(ToolSchema);

/**
 * Converts a body to chat's form, for clients that mix forms: bodies and tools of the Responses API, messages of the
 * older functions, our own answers with thoughts alone. Returns null if it is in chat's form already.
 * @throws ApiError INVALID_REQUEST for a Responses API body without an equivalent in chat
 */
export function inChatForm(body: Body, long: LongStrings): Body | null {
	if (body.messages === undefined && (typeof body.input === "string" || Array.isArray(body.input)))
		return ofResponses(body, long);
	const changed: Record<string, unknown> = {};
	if (Array.isArray(body.tools) && body.tools.some(isOtherTool))
		changed.tools = (body.tools as unknown[]).flatMap((tool) => chatTools(tool, long));
	Object.assign(changed, functionsAsTools({ ...body, ...changed }));
	const format = schemaFormat(body.response_format);
	if (format !== null) changed.response_format = format;
	Object.assign(changed, chatChoice(changed.tool_choice ?? body.tool_choice, changed.tools ?? body.tools));
	if (Array.isArray(body.messages) && body.messages.some(isOtherMessage))
		changed.messages = new MessageForms().of(body.messages as unknown[]);
	return Object.keys(changed).length === 0 ? null : { ...body, ...changed };
}

/**
 * Converts a format to OpenAI's form; null if no conversion is needed. It accepts a schema beside the type (llama.cpp,
 * Together, Fireworks), the flat form of the Responses API, and a `json_schema` of the type `json_object`.
 */
function schemaFormat(format: unknown): Body | null {
	if (!isRecord(format) || (format.type !== "json_object" && format.type !== "json_schema")) return null;
	if (isRecord(format.json_schema)) return format.type === "json_object" ? { ...format, type: "json_schema" } : null;
	if (!isRecord(format.schema)) return null;
	const { schema, type: _type, json_schema: _none, name = "response", description, strict, ...rest } = format;
	return { ...rest, type: "json_schema", json_schema: { name, description, schema, strict } };
}

/**
 * Converts a Responses API body. Members unknown to that API stay unchanged: clients send chat's own fields beside it.
 */
function ofResponses(body: Body, long: LongStrings): Body {
	if (!responsesBody.check(body)) throw invalidRequest(responsesBody.issues(body));
	const others = Object.entries(body).filter(([name]) => !Object.hasOwn(ResponsesBodySchema.properties, name));
	return { ...Object.fromEntries(others), ...chatRequest(body, long).body };
}

/** Returns true for a tool, or a choice of one, whose name is not under its type. */
function isFlatTool(tool: unknown): tool is Body & { readonly name: string } {
	return isRecord(tool) && typeof tool.name === "string" && !isRecord(tool.function) && typeof tool.type === "string";
}

/** Returns true for a free-form tool in chat's own form. */
function isCustomTool(tool: unknown): tool is Body & { readonly custom: Body } {
	return isRecord(tool) && tool.type === "custom" && isRecord(tool.custom);
}

/** Converts the choice of a tool to one of a function, and removes the tools that it does not allow. */
function chatChoice(choice: unknown, tools: unknown): Body {
	if (isCustomTool(choice)) return { tool_choice: { type: "function", function: { name: choice.custom.name } } };
	if (isFlatTool(choice)) return { tool_choice: { type: "function", function: { name: choice.name } } };
	if (!isRecord(choice) || choice.type !== "allowed_tools" || !isRecord(choice.allowed_tools) || !Array.isArray(tools)) return {};
	const { mode, tools: allowed } = choice.allowed_tools;
	const names = new Set((Array.isArray(allowed) ? (allowed as unknown[]) : []).map(nameOf));
	const remaining = (tools as unknown[]).filter((tool) => names.has(nameOf(tool)));
	return remaining.length === 0 ? {} : { tool_choice: mode, tools: remaining };
}

function nameOf(tool: unknown): unknown {
	if (!isRecord(tool)) return null;
	const { function: called, custom, name } = tool;
	return isRecord(called) ? called.name : isRecord(custom) ? custom.name : name;
}

function isOtherTool(tool: unknown): boolean {
	return isFlatTool(tool) || isCustomTool(tool);
}

/** Converts a tool to functions; a free-form tool gets the one text `input`. */
function chatTools(tool: unknown, long: LongStrings): unknown[] {
	const flat = isCustomTool(tool) ? { type: "custom", ...tool.custom } : tool;
	if (!isOtherTool(tool) || !responsesTool.check(flat)) return [tool];
	const tools = new ClientTools(long);
	tools.add([flat], "tools");
	return tools.ignored.length > 0 ? [tool] : [...tools.chatTools(null)];
}

function isOtherMessage(message: unknown): boolean {
	if (!isRecord(message)) return false;
	return message.role === "function" || (message.role === "assistant" && (isRecord(message.function_call) || isSilent(message)));
}

/** Returns true for an assistant's message with thoughts or a refusal alone, as our answers have them. */
function isSilent({ content, tool_calls: calls, reasoning_content: thoughts, refusal }: Body): boolean {
	const isEmpty = (content === undefined || content === null) && (!Array.isArray(calls) || calls.length === 0);
	return isEmpty && (typeof thoughts === "string" || typeof refusal === "string");
}

/** Converts the messages of one conversation to the form of tools. */
class MessageForms {
	#calls = 0;
	/** The last call in the older form, until its result arrives. */
	#open: { readonly id: string; readonly name: unknown } | null = null;

	of(messages: readonly unknown[]): unknown[] {
		return messages.map((message) => (isRecord(message) && isOtherMessage(message) ? this.#message(message) : message));
	}

	#message(message: Body): Body {
		if (message.role === "function") return this.#result(message);
		const { function_call: call, ...others } = message;
		if (!isRecord(call)) return { ...others, content: typeof others.refusal === "string" ? others.refusal : "" };
		const id = `call_function_${this.#calls++}`;
		this.#open = { id, name: call.name };
		return { ...others, tool_calls: [{ id, type: "function", function: call }] };
	}

	/** Converts a result. One without its call becomes a user message, since a tool message must answer a call. */
	#result({ name, content }: Body): Body {
		const open = this.#open;
		this.#open = null;
		if (open !== null && open.name === name) return { role: "tool", tool_call_id: open.id, content: content ?? "" };
		return { role: "user", ...(typeof name === "string" ? { name } : {}), content: content ?? "" };
	}
}
