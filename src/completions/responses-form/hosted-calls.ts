import type { ResponseTool } from "./schema.ts";

const text = { type: "string" };
const texts = { type: "array", items: text };
const integer = { type: "integer" };

/**
 * Tools of the Responses API that the caller runs, by type: the function of the chat request, and the member of the
 * item `<type>_call` that has the function's arguments.
 */
export const HOSTED_CALLS = {
	local_shell: {
		description: "Runs a program on the user's machine, and returns what it prints.",
		parameters: objectOf({ command: texts, working_directory: text, timeout_ms: integer, env: { type: "object" } }, ["command"]),
		member: "action",
		beside: { type: "exec", command: [], env: {} },
		idPrefix: "lsh",
	},
	shell: {
		description: "Runs shell commands on the user's machine, and returns what they print.",
		parameters: objectOf({ commands: texts, timeout_ms: integer, max_output_length: integer }, ["commands"]),
		member: "action",
		beside: { commands: [], timeout_ms: null, max_output_length: null },
		idPrefix: "sh",
	},
	apply_patch: {
		description: "Creates, changes or deletes a file on the user's machine.",
		parameters: objectOf(
			{
				type: { type: "string", enum: ["create_file", "update_file", "delete_file"] },
				path: text,
				diff: { type: "string", description: "Of a new file or a change: the diff, in V4A form" },
			},
			["type", "path"],
		),
		member: "operation",
		beside: {},
		idPrefix: "apc",
	},
	tool_search: {
		description: "Finds tools that can be called from then on.",
		parameters: objectOf({ query: text, limit: integer }, ["query"]),
		member: "arguments",
		beside: {},
		idPrefix: "tsc",
	},
} as const;

export type HostedCall = keyof typeof HOSTED_CALLS;

/** Returns true for a tool that the caller runs, false for one that its provider would run on a machine of its own. */
export function isHostedCall(tool: ResponseTool): tool is ResponseTool & { readonly type: HostedCall } {
	if (!Object.hasOwn(HOSTED_CALLS, tool.type)) return false;
	const { environment, execution } = tool as { environment?: { type?: unknown } | null; execution?: unknown };
	if (tool.type === "tool_search") return execution === "client";
	return environment == null || environment.type === "local";
}

function objectOf(properties: Readonly<Record<string, object>>, required: readonly string[]) {
	return { type: "object", properties, required, additionalProperties: false };
}
