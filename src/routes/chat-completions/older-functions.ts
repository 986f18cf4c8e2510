/**
 * Supports OpenAI's older functions, from before tools: `functions` and `function_call` of a request, `function_call`
 * of an answer.
 */
import { isRecord } from "../../schema/is-record.ts";

type Body = Readonly<Record<string, unknown>>;

/**
 * Converts functions to tools, with one call at a time, as their callers expect. `functions` stays in the body; unless
 * there are tools beside it, it means that the answer must use the older form.
 */
export function functionsAsTools({ functions, function_call: call, tools, tool_choice: choice }: Body): Body {
	const older = Array.isArray(functions) ? (functions as unknown[]) : [];
	const hasTools = Array.isArray(tools) && tools.length > 0;
	const named = isRecord(call) ? { type: "function", function: { name: call.name } } : call;
	const isChosen = choice === undefined && call !== undefined && (hasTools || older.length > 0);
	const chosen = isChosen ? { tool_choice: named, function_call: undefined } : {};
	if (older.length === 0) return chosen;
	const convertedTools = older.map((definition) => ({ type: "function", function: definition }));
	if (hasTools) return { ...chosen, tools: [...(tools as unknown[]), ...convertedTools], functions: undefined };
	return { ...chosen, tools: convertedTools, parallel_tool_calls: false };
}

/** Converts a choice, also of a chunk, to one whose call is in the older form. */
export function asFunctionCall(choice: unknown): unknown {
	if (!isRecord(choice)) return choice;
	const { message, delta, finish_reason: reason } = choice;
	return {
		...choice,
		...(isRecord(message) ? { message: withFunctionCall(message) } : {}),
		...(isRecord(delta) ? { delta: withFunctionCall(delta) } : {}),
		...(reason === "tool_calls" ? { finish_reason: "function_call" } : {}),
	};
}

function withFunctionCall(message: Body): Body {
	const { tool_calls: calls, ...rest } = message;
	if (!Array.isArray(calls)) return message;
	const first = (calls as unknown[]).find((call) => isRecord(call) && (call.index ?? 0) === 0);
	return isRecord(first) ? { ...rest, function_call: first.function } : rest;
}
