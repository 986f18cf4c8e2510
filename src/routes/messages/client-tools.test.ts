/** Anthropic's own tools: those that the client runs are functions to the model, those of Anthropic's servers are named and left out. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { HELLO } from "../../../test/support/chat-bodies.ts";
import { type PricedGateway, startPricedGateway } from "../../../test/support/priced-gateway.ts";

let fixture: PricedGateway;
beforeAll(async () => {
	fixture = await startPricedGateway();
});
afterAll(() => fixture.stop());

const ask = (part: object) =>
	fixture.gate.call("POST", "/messages", { model: "priced", max_tokens: 50, messages: HELLO, ...part });
const sentTools = () =>
	(fixture.upstream.requests.at(-1)?.body.tools ?? []) as {
		readonly function: {
			readonly name: string;
			readonly parameters: { readonly properties: Record<string, { enum?: string[] }> };
		};
	}[];

test.each([
	[{ type: "bash_20250124", name: "bash" }, ["command", "restart"]],
	[{ type: "bash_20241022", name: "bash" }, ["command", "restart"]],
	[
		{ type: "text_editor_20250728", name: "str_replace_based_edit_tool", max_characters: 10_000 },
		["command", "path", "insert_text"],
	],
	[{ type: "text_editor_20250124", name: "str_replace_editor" }, ["command", "path", "view_range"]],
	[{ type: "memory_20250818", name: "memory" }, ["command", "path", "old_path", "new_path"]],
	[
		{ type: "computer_20250124", name: "computer", display_width_px: 1024, display_height_px: 768, display_number: 1 },
		["action", "coordinate", "scroll_direction"],
	],
])("%j is a function with its documented input, and comes back as its call", async (tool, inputs) => {
	const call = { id: "call_1", type: "function", function: { name: tool.name, arguments: '{"command":"ls"}' } };
	const message = { role: "assistant", content: null, tool_calls: [call] };
	fixture.upstream.next({
		raw: JSON.stringify({ object: "chat.completion", choices: [{ index: 0, message, finish_reason: "tool_calls" }] }),
	});
	const answer = await ask({ tools: [tool], tool_choice: { type: "tool", name: tool.name } });
	expect(await answer.json()).toMatchObject({
		stop_reason: "tool_use",
		content: [{ type: "tool_use", id: "call_1", name: tool.name, input: { command: "ls" } }],
	});
	expect(answer.headers.get("x-service-ignored")).toBeNull();
	const [sent] = sentTools();
	expect(sent?.function.name).toBe(tool.name);
	expect(Object.keys(sent?.function.parameters.properties ?? {})).toEqual(expect.arrayContaining(inputs));
	if (tool.type === "computer_20250124") expect(JSON.stringify(sent)).toContain("1024 x 768 pixels");
	const next = await ask({
		tools: [tool],
		messages: [
			...HELLO,
			{ role: "assistant", content: [{ type: "tool_use", id: "call_1", name: tool.name, input: { command: "ls" } }] },
			{ role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "a.txt" }] },
		],
	});
	expect(next.status).toBe(200);
});

test("only the older editors undo, only the later computers scroll and zoom", async () => {
	const commandsOf = async (tool: object, member: string) => {
		await ask({ tools: [tool] });
		return sentTools()[0]?.function.parameters.properties[member]?.enum ?? [];
	};
	const editor = { name: "edit" };
	expect(await commandsOf({ ...editor, type: "text_editor_20250124" }, "command")).toContain("undo_edit");
	expect(await commandsOf({ ...editor, type: "text_editor_20250429" }, "command")).not.toContain("undo_edit");
	const computer = { name: "computer", display_width_px: 10, display_height_px: 10 };
	expect(await commandsOf({ ...computer, type: "computer_20241022" }, "action")).not.toContain("scroll");
	expect(await commandsOf({ ...computer, type: "computer_20250124" }, "action")).not.toContain("zoom");
	expect(await commandsOf({ ...computer, type: "computer_20251124" }, "action")).toContain("zoom");
});

test.each(["web_fetch_20250910", "code_execution_20250825", "tool_search_tool_regex_20251119", "mcp_toolset"])(
	"%s, which runs at Anthropic, is left out and named",
	async (type) => {
		const function_ = { name: "f", input_schema: { type: "object", properties: {} } };
		const answer = await ask({ tools: [{ type, name: "hosted" }, function_] });
		expect([answer.status, answer.headers.get("x-service-ignored")]).toEqual([200, `tools[0] (${type})`]);
		expect(sentTools().map((tool) => tool.function.name)).toEqual(["f"]);
		const alone = await ask({ tools: [{ type, name: "hosted" }], tool_choice: { type: "auto" } });
		expect([alone.status, alone.headers.get("x-service-ignored")]).toEqual([200, `tools[0] (${type})`]);
		expect(fixture.upstream.requests.at(-1)?.body).not.toHaveProperty("tools");
	},
);

test("a choice of a tool that is left out is refused", async () => {
	const answer = await ask({
		tools: [{ type: "web_fetch_20250910", name: "web_fetch" }],
		tool_choice: { type: "tool", name: "web_fetch" },
	});
	expect(answer.status).toBe(400);
});

test("their tokens are counted", async () => {
	const counted = async (tools: object[]) => {
		const answer = await fixture.gate.call("POST", "/messages/count_tokens", { model: "priced", messages: HELLO, tools });
		return ((await answer.json()) as { input_tokens: number }).input_tokens;
	};
	expect(await counted([{ type: "memory_20250818", name: "memory" }])).toBeGreaterThan((await counted([])) + 100);
});
