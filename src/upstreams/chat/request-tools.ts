import { arrayElements, lastMember, type MemberEdit, memberSplice, objectMembers, Splice } from "../../wire/index.ts";
import { type BodyView, type JsonSlice, memberOf, parseSlice } from "../body-view.ts";
import type { Dialect } from "./dialects.ts";

const HOSTED = new Set(["web_search", "x_search"]);

interface Tool {
	/** The tool as received. */
	readonly slice: JsonSlice;
	/** The tool as sent, where that differs. */
	readonly rewritten: Splice | null;
	readonly definition: JsonSlice | undefined;
}

/**
 * Shapes tools and tool_choice. Hosted tools are removed, since we run them. A choice that the server cannot take is
 * expressed by the list: one named tool is the only tool, `none` is no tools. Without tools, members about tools are
 * removed too: servers refuse them.
 */
export function shapeTools(body: BodyView, dialect: Dialect): void {
	const slice = body.slice("tools");
	const elements = slice && slice.bytes[slice.start] === 0x5b ? arrayElements(slice.bytes, slice.start) : [];
	let tools = elements.flatMap(({ start, end }) => (slice ? shapeTool({ bytes: slice.bytes, start, end }) : []));
	const choice = body.value("tool_choice");
	const named = namedTool(choice);
	if (named !== undefined && dialect.toolChoice !== "any") {
		tools = tools.filter((tool) => nameOf(tool) === named);
		body.set("tool_choice", '"required"');
	}
	if (choice === "none" && dialect.toolChoice === "none") tools = [];
	if (choice === undefined || dialect.toolChoice === "none") body.drop("tool_choice");
	if (tools.length === 0) {
		for (const key of ["tools", "tool_choice", "parallel_tool_calls"]) body.drop(key);
		return;
	}
	if (slice === undefined || (tools.length === elements.length && !tools.some((tool) => tool.rewritten))) return;
	body.set("tools", listOf(tools, slice.bytes));
}

function shapeTool(slice: JsonSlice): Tool[] {
	if (slice.bytes[slice.start] !== 0x7b) return [];
	const members = objectMembers(slice.bytes, slice.start);
	const member = (key: string): JsonSlice | undefined => {
		const last = lastMember(members, key);
		return last && { bytes: slice.bytes, start: last.valueStart, end: last.valueEnd };
	};
	const typeSlice = member("type");
	const type = typeSlice && parseSlice(typeSlice);
	if (typeof type === "string" && HOSTED.has(type)) return [];
	// `id` is a key of ours: no server knows it.
	const edits = new Map<string, MemberEdit>([["id", null]]);
	// A tool of another type would run on the server, at the operator's cost.
	if (type !== "function") edits.set("type", '"function"');
	return [{ slice, rewritten: memberSplice(slice.bytes, members, edits, slice), definition: member("function") }];
}

function nameOf(tool: Tool): unknown {
	const name = memberOf(tool.definition, "name");
	return name && parseSlice(name);
}

function namedTool(choice: unknown): string | undefined {
	const name = (choice as { function?: { name?: unknown } } | undefined)?.function?.name;
	return typeof name === "string" ? name : undefined;
}

/** Returns the tools as a JSON array; `bytes` is their source. */
function listOf(tools: readonly Tool[], bytes: Uint8Array): Splice {
	const list = new Splice(bytes);
	for (const [index, { slice, rewritten }] of tools.entries()) {
		list.insert(index === 0 ? "[" : ",");
		if (rewritten) list.insert(rewritten);
		else list.keep(slice.start, slice.end);
	}
	list.insert("]");
	return list;
}

/**
 * Wraps a bare JSON schema under `json_schema` as {name: "response", schema}. A wrapped schema without a name gets that
 * name (docs/chat.md).
 */
export function shapeResponseFormat(body: BodyView, dialect: Dialect): void {
	const format = body.slice("response_format");
	const type = memberOf(format, "type");
	if (!format || !type) {
		body.drop("response_format");
		return;
	}
	const kind = parseSlice(type);
	if (kind === "json_object" && dialect.jsonObject === "as_schema") {
		body.set("response_format", '{"type":"json_schema","json_schema":{"name":"response","schema":{"type":"object"}}}');
	}
	const schema = kind === "json_schema" ? memberOf(format, "json_schema") : undefined;
	if (schema?.bytes[schema.start] !== 0x7b) return;
	const inner = memberOf(schema, "schema");
	const isWrapped = inner !== undefined && inner.bytes[inner.start] === 0x7b;
	if (isWrapped && memberOf(schema, "name")) return;
	const shaped = new Splice(schema.bytes);
	shaped.insert('{"type":"json_schema","json_schema":');
	const members = isWrapped ? objectMembers(schema.bytes, schema.start) : [];
	const named = isWrapped ? memberSplice(schema.bytes, members, new Map([["name", '"response"']]), schema) : null;
	if (named) shaped.insert(named);
	else {
		shaped.insert('{"name":"response","schema":');
		shaped.keep(schema.start, schema.end);
		shaped.insert("}");
	}
	shaped.insert("}");
	body.set("response_format", shaped);
}
