import { createHash } from "node:crypto";
import { invalidField } from "../../schema/index.ts";
import type { LongStrings } from "../../wire/index.ts";
import { type ChatBody, MAX_TOOLS } from "../schema.ts";
import { HOSTED_CALLS, type HostedCall, isHostedCall } from "./hosted-calls.ts";
import type { ResponsesBody, ResponseTool } from "./schema.ts";

type Tools = NonNullable<ChatBody["tools"]>;
type CustomTool = Extract<ResponseTool, { type: "custom" }>;
type FunctionDefinition = Extract<Tools[number], { function: object }>["function"];

/** The caller's tool behind a function of the chat request. */
export interface ClientTool {
	readonly kind: "function" | "custom" | HostedCall;
	readonly name: string;
	/** The namespace that the tool was declared in. */
	readonly namespace?: string;
}

/** Maximum length of a function's name at all providers. */
const MAX_NAME_CHARS = 64;
/** The namespace of tools that are called without one. */
const DEFAULT_NAMESPACE = "functions";

/**
 * Converts the tools that the caller runs to functions of the chat request, and back. A function is sent unchanged, a
 * free-form tool as a function with one text `input`, a tool of a namespace under `namespace__name`.
 */
export class ClientTools {
	/** Positions and types of the tools that are not sent. */
	readonly ignored: string[] = [];
	readonly #functions = new Map<string, FunctionDefinition>();
	readonly #tools = new Map<string, ClientTool>();
	readonly #long: LongStrings;
	#searchesWeb = false;
	#searchesX = false;

	/** @param long strings of which the parsed tools have only the beginning */
	constructor(long: LongStrings) {
		this.#long = long;
	}

	/** @param at the path of the list, for `ignored` */
	add(tools: readonly ResponseTool[], at: string, namespace?: string): void {
		for (const [index, tool] of tools.entries()) this.#add(tool, `${at}[${index}]`, namespace);
	}

	/**
	 * Returns the tools of the chat request.
	 * @param allowed null: all
	 */
	chatTools(allowed: ReadonlySet<string> | null): Tools {
		const functions = [...this.#functions].filter(([name]) => allowed === null || allowed.has(name));
		return [
			...functions.map(([, definition]) => ({ type: "function", function: definition })),
			...(this.#searchesWeb ? [{ type: "web_search" as const }] : []),
			...(this.#searchesX ? [{ type: "x_search" as const }] : []),
		];
	}

	/** Returns the caller's tool for a function; an undeclared one is a function of that name. */
	toolOf(functionName: string): ClientTool {
		return this.#tools.get(functionName) ?? { kind: "function", name: functionName };
	}

	#add(tool: ResponseTool, at: string, namespace: string | undefined): void {
		if (tool.type === "namespace" && "tools" in tool && namespace === undefined) this.add(tool.tools, `${at}.tools`, tool.name);
		else if (tool.type === "function")
			this.#set({ kind: "function", ...nameMembers(functionIn(tool), namespace) }, functionIn(tool));
		else if (isCustom(tool)) this.#set({ kind: "custom", ...nameMembers(tool, namespace) }, freeForm(tool, this.#long));
		else if (isHostedCall(tool)) this.#set({ kind: tool.type, name: tool.type }, hostedFunction(tool));
		else if (isSearch(tool.type) && !isOffline(tool)) this.#searchesWeb = true;
		else if (tool.type === "x_search") this.#searchesX = true;
		else this.ignored.push(`${at} (${tool.type})`);
	}

	/** Adds a tool; it replaces an earlier one of that name. */
	#set(tool: ClientTool, { description, parameters, strict }: Omit<FunctionDefinition, "name">): void {
		const name = functionName(tool.name, tool.namespace);
		this.#tools.set(name, tool);
		this.#functions.set(name, {
			name,
			...(description ? { description } : {}),
			...(parameters ? { parameters } : {}),
			...(typeof strict === "boolean" ? { strict } : {}),
		});
		if (this.#functions.size > MAX_TOOLS) throw invalidField(["tools"], `more than ${MAX_TOOLS} tools`, "too_big");
	}
}

/** Returns the function name of a tool in a namespace; it is the same in every request. */
export function functionName(name: string, namespace?: string | null): string {
	if (!namespace || namespace === DEFAULT_NAMESPACE) return name;
	const fullName = `${namespace}__${name}`.replaceAll(/[^a-zA-Z0-9_-]/g, "_");
	if (fullName.length <= MAX_NAME_CHARS) return fullName;
	const hash = createHash("sha256").update(`${namespace}\n${name}`).digest("hex").slice(0, 8);
	return `${fullName.slice(0, MAX_NAME_CHARS - 9)}_${hash}`;
}

/** Returns the functions that `allowed_tools` lists; null if all may be called. */
export function allowedFunctions({ tool_choice: choice }: ResponsesBody): ReadonlySet<string> | null {
	if (typeof choice !== "object" || choice.type !== "allowed_tools" || !("tools" in choice)) return null;
	return new Set(choice.tools.flatMap((tool) => functionOfChoice(tool) ?? []));
}

/** Returns the function that a choice of one tool names; undefined if it names none. */
export function functionOfChoice(choice: { readonly type: string }): string | undefined {
	if (Object.hasOwn(HOSTED_CALLS, choice.type)) return choice.type;
	if (choice.type !== "function" && choice.type !== "custom") return undefined;
	const named = "function" in choice && isNamed(choice.function) ? choice.function : choice;
	if (!isNamed(named)) return undefined;
	return functionName(named.name, "namespace" in named && typeof named.namespace === "string" ? named.namespace : null);
}

/** Returns true for a web search that the provider runs. */
export function isSearch(type: string): boolean {
	return /^web_search(_preview)?(_\d|$)/.test(type);
}

function nameMembers({ name }: { readonly name: string }, namespace: string | undefined): Pick<ClientTool, "name" | "namespace"> {
	return namespace === undefined ? { name } : { name, namespace };
}

/** Returns true for a value with a name. Fields of another form may hold anything. */
function isNamed(value: unknown): value is { readonly name: string } {
	return typeof value === "object" && value !== null && "name" in value && typeof value.name === "string" && value.name !== "";
}

/** Returns the function of a tool, in chat's nested form or the flat form of this API. */
function functionIn(tool: ResponseTool): FunctionDefinition {
	return ("function" in tool && isNamed(tool.function) ? tool.function : tool) as FunctionDefinition;
}

function isCustom(tool: ResponseTool): tool is CustomTool {
	return tool.type === "custom";
}

/** Returns a function with one text parameter. The description shows the grammar; nothing enforces it. */
function freeForm({ description, format }: CustomTool, long: LongStrings): Omit<FunctionDefinition, "name"> {
	const grammar = format?.type === "grammar" ? format.definition : undefined;
	const form = grammar ? ` that matches this ${format?.syntax ?? "lark"} grammar:\n${long.partTextOf(grammar)}` : "";
	const input = { type: "string", description: `The tool's input: plain text${form}` };
	return { description: description ?? null, parameters: { type: "object", properties: { input }, required: ["input"] } };
}

function hostedFunction(tool: ResponseTool & { readonly type: HostedCall }): Omit<FunctionDefinition, "name"> {
	const { description, parameters } = HOSTED_CALLS[tool.type];
	if (tool.type !== "tool_search") return { description, parameters };
	const own = tool as Extract<ResponseTool, { execution?: unknown }>;
	return { description: own.description ?? description, parameters: own.parameters ?? parameters };
}

/** Returns true for a search that must not reach the web; there is no such search here. */
function isOffline(tool: ResponseTool): boolean {
	return "external_web_access" in tool && tool.external_web_access === false;
}
