import { createHash } from "node:crypto";
import { invalidField } from "../../schema/index.ts";
import type { LongStrings } from "../../wire/index.ts";
import type { ChatBody } from "../schema.ts";
import { MAX_TOOLS } from "../schema.ts";
import { HOSTED_CALLS, type HostedCall, isHostedCall } from "./hosted-calls.ts";
import type { ResponsesBody, ResponseTool } from "./schema.ts";

type Tools = NonNullable<ChatBody["tools"]>;
type CustomTool = Extract<ResponseTool, { type: "custom" }>;
type FunctionDefinition = Extract<Tools[number], { function: object }>["function"];

/** What a function of the chat request is to the caller. */
export interface ClientTool {
	readonly kind: "function" | "custom" | HostedCall;
	readonly name: string;
	/** The namespace that the tool was declared in. */
	readonly namespace?: string;
}

/** Names of functions are at most this long everywhere. */
const MAX_NAME_CHARS = 64;
/** The namespace of tools that are called without one. */
const DEFAULT_NAMESPACE = "functions";

/**
 * The tools of a request, which its caller runs, as functions of the chat request, and back. A function is sent as it
 * is, a free-form tool as a function with the one text `input`, a tool of a namespace under `namespace__name`.
 */
export class ClientTools {
	/** Where the tools that are not sent stand, with their types. */
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

	/** @param at where the list stands, for `ignored` */
	add(tools: readonly ResponseTool[], at: string, namespace?: string): void {
		for (const [index, tool] of tools.entries()) this.#add(tool, `${at}[${index}]`, namespace);
	}

	/** The tools of the chat request; null of `allowed` means all. */
	chatTools(allowed: ReadonlySet<string> | null): Tools {
		const functions = [...this.#functions].filter(([name]) => allowed === null || allowed.has(name));
		return [
			...functions.map(([, definition]) => ({ type: "function", function: definition })),
			...(this.#searchesWeb ? [{ type: "web_search" as const }] : []),
			...(this.#searchesX ? [{ type: "x_search" as const }] : []),
		];
	}

	/** What the caller calls the function; one that it did not declare is a function of that name. */
	toolOf(functionName: string): ClientTool {
		return this.#tools.get(functionName) ?? { kind: "function", name: functionName };
	}

	#add(tool: ResponseTool, at: string, namespace: string | undefined): void {
		if (tool.type === "namespace" && "tools" in tool && namespace === undefined) this.add(tool.tools, `${at}.tools`, tool.name);
		else if (tool.type === "function") this.#set({ kind: "function", ...named(functionIn(tool), namespace) }, functionIn(tool));
		else if (isCustom(tool)) this.#set({ kind: "custom", ...named(tool, namespace) }, freeForm(tool, this.#long));
		else if (isHostedCall(tool)) this.#set({ kind: tool.type, name: tool.type }, hostedFunction(tool));
		else if (isSearch(tool.type) && !isOffline(tool)) this.#searchesWeb = true;
		else if (tool.type === "x_search") this.#searchesX = true;
		else this.ignored.push(`${at} (${tool.type})`);
	}

	/** A tool that is declared again takes the place of the earlier one. */
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

/** The function that stands for a tool of a namespace; the same for the same tool in every request. */
export function functionName(name: string, namespace?: string | null): string {
	if (!namespace || namespace === DEFAULT_NAMESPACE) return name;
	const whole = `${namespace}__${name}`.replaceAll(/[^a-zA-Z0-9_-]/g, "_");
	if (whole.length <= MAX_NAME_CHARS) return whole;
	const hash = createHash("sha256").update(`${namespace}\n${name}`).digest("hex").slice(0, 8);
	return `${whole.slice(0, MAX_NAME_CHARS - 9)}_${hash}`;
}

/** The functions that `allowed_tools` leaves; null where all may be called. */
export function allowedFunctions({ tool_choice: choice }: ResponsesBody): ReadonlySet<string> | null {
	if (typeof choice !== "object" || choice.type !== "allowed_tools" || !("tools" in choice)) return null;
	return new Set(choice.tools.flatMap((tool) => functionOfChoice(tool) ?? []));
}

/** The function that a choice of one tool names; undefined where it names none. */
export function functionOfChoice(choice: { readonly type: string }): string | undefined {
	if (Object.hasOwn(HOSTED_CALLS, choice.type)) return choice.type;
	if (choice.type !== "function" && choice.type !== "custom") return undefined;
	const named = "function" in choice && isNamed(choice.function) ? choice.function : choice;
	if (!isNamed(named)) return undefined;
	return functionName(named.name, "namespace" in named && typeof named.namespace === "string" ? named.namespace : null);
}

/** A search of the web that the provider does. */
export function isSearch(type: string): boolean {
	return /^web_search(_preview)?(_\d|$)/.test(type);
}

function named({ name }: { readonly name: string }, namespace: string | undefined): Pick<ClientTool, "name" | "namespace"> {
	return namespace === undefined ? { name } : { name, namespace };
}

/** What stands beside the fields of another form is anything: only by its name is it told from what was meant. */
function isNamed(value: unknown): value is { readonly name: string } {
	return typeof value === "object" && value !== null && "name" in value && typeof value.name === "string" && value.name !== "";
}

/** A function in the form of chat, or in the flat form of this API. */
function functionIn(tool: ResponseTool): FunctionDefinition {
	return ("function" in tool && isNamed(tool.function) ? tool.function : tool) as FunctionDefinition;
}

function isCustom(tool: ResponseTool): tool is CustomTool {
	return tool.type === "custom";
}

/** Its parameters are the one text; models obey a grammar that they are shown, and nothing enforces it. */
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

/** A search that must not reach the web: there is no other here. */
function isOffline(tool: ResponseTool): boolean {
	return "external_web_access" in tool && tool.external_web_access === false;
}
