/** Tools that the caller runs, in the forms in which coding agents declare and call them. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { pricedModel } from "../../../test/support/chat-bodies.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../../../test/support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../../../test/support/scripted-upstream.ts";
import { functionName } from "../../completions/responses-form/index.ts";

let upstream: ScriptedUpstream;
let gate: RunningGateway;

beforeAll(async () => {
	upstream = startScriptedUpstream();
	gate = await startGateway({
		config: {
			upstreams: { scripted: upstreamEntry(upstream.url) },
			models: { entries: { priced: pricedModel(["scripted"]) } },
		},
	});
});
afterAll(async () => {
	expect(upstream.requests.flatMap(({ complaints }) => complaints)).toEqual([]);
	await gate.stop();
	await upstream.stop();
});

type Item = Readonly<Record<string, unknown>>;
type SentFunction = { readonly name: string; readonly description?: string; readonly parameters?: Item };
type SentMessage = { readonly role: string; readonly content?: unknown; readonly tool_calls?: readonly object[] };

const PATCH = '*** Begin Patch\n*** Add File: caf\u00e9.txt\n+"hi"\n*** End Patch\n';
const GRAMMAR = 'start: begin_patch\nbegin_patch: "*** Begin Patch" LF';
const APPLY_PATCH = {
	type: "custom",
	name: "apply_patch",
	description: "Edits files.",
	format: { type: "grammar", syntax: "lark", definition: GRAMMAR },
};
const AGENTS = {
	type: "namespace",
	name: "collaboration",
	description: "Other agents.",
	tools: [
		{ type: "function", name: "list_agents", strict: false, parameters: { type: "object", properties: {} } },
		{ type: "custom", name: "note" },
		{ type: "image_generation" },
	],
};

/** The model calls a function, its arguments in pieces of a few characters. */
function calls(name: string, written: string): void {
	const pieces = written.match(/.{1,5}/gsu) ?? [];
	upstream.next({
		speech: { content: [], toolCalls: [{ id: "call_1", name, arguments: pieces }], finishReason: "tool_calls" },
	});
}

async function ask(part: object): Promise<{ answer: Response; output: Item[] }> {
	const answer = await gate.call("POST", "/responses", { model: "priced", input: "x", ...part });
	expect(answer.status).toBe(200);
	return { answer, output: ((await answer.clone().json()) as { output: Item[] }).output };
}

async function events(part: object): Promise<Item[]> {
	const answer = await gate.call("POST", "/responses", { model: "priced", input: "x", stream: true, ...part });
	return (await answer.text())
		.split("\n\n")
		.filter((block) => block !== "")
		.map((block) => JSON.parse(block.slice(block.indexOf("data: ") + 6)) as Item);
}

const sent = () =>
	upstream.requests.at(-1)?.body as { messages: SentMessage[]; tools?: { function: SentFunction }[]; tool_choice?: unknown };
const sentNames = () => (sent().tools ?? []).map((tool) => tool.function.name);

test("a free-form tool is a function with one text, and its call comes back free-form", async () => {
	calls("apply_patch", JSON.stringify({ input: PATCH }));
	const { answer, output } = await ask({ tools: [APPLY_PATCH], tool_choice: { type: "custom", name: "apply_patch" } });
	expect(answer.headers.get("x-service-ignored")).toBeNull();
	const [called] = sent().tools ?? [];
	expect(called?.function).toMatchObject({
		name: "apply_patch",
		description: "Edits files.",
		parameters: { type: "object", properties: { input: { type: "string" } }, required: ["input"] },
	});
	expect(JSON.stringify(called)).toContain(JSON.stringify(GRAMMAR).slice(1, -1));
	expect(sent().tool_choice).toEqual({ type: "function", function: { name: "apply_patch" } });
	expect(output).toEqual([
		{
			type: "custom_tool_call",
			id: expect.stringMatching(/^ctc_/),
			call_id: "call_1",
			status: "completed",
			name: "apply_patch",
			input: PATCH,
		},
	]);
});

test("its stream tells the input at once, and no function's events", async () => {
	calls("apply_patch", JSON.stringify({ input: PATCH }));
	const told = await events({ tools: [APPLY_PATCH] });
	expect(told.map(({ type }) => type)).toEqual([
		"response.created",
		"response.in_progress",
		"response.output_item.added",
		"response.custom_tool_call_input.delta",
		"response.custom_tool_call_input.done",
		"response.output_item.done",
		"response.completed",
	]);
	const [, , added, delta, done, ended] = told as unknown as { item: Item; delta: string; input: string; item_id: string }[];
	expect(added?.item).toMatchObject({ type: "custom_tool_call", name: "apply_patch", input: "", status: "in_progress" });
	expect([delta?.delta, done?.input, ended?.item.input]).toEqual([PATCH, PATCH, PATCH]);
	expect(delta?.item_id).toBe(added?.item.id as string);
});

test.each([
	["plain text", "*** Begin Patch"],
	["JSON that is no object", '"x"'],
	["an object without input", '{"patch":"x"}'],
	["an input that is no text", '{"input":5}'],
	["JSON that was cut off", '{"input":"x'],
	["nothing", ""],
])("a model that writes %s for a free-form tool is passed on as it wrote", async (_, written) => {
	calls("apply_patch", written);
	const { output } = await ask({ tools: [APPLY_PATCH] });
	expect(output).toMatchObject([{ type: "custom_tool_call", input: written }]);
});

test("tools of a namespace are functions of its name, and their calls come back in it", async () => {
	calls("collaboration__list_agents", "{}");
	const { answer, output } = await ask({ tools: [AGENTS] });
	expect(sentNames()).toEqual(["collaboration__list_agents", "collaboration__note"]);
	expect(answer.headers.get("x-service-ignored")).toBe("tools[0].tools[2] (image_generation)");
	expect(output).toMatchObject([
		{ type: "function_call", name: "list_agents", namespace: "collaboration", call_id: "call_1", arguments: "{}" },
	]);
	const choice = { type: "function", name: "list_agents", namespace: "collaboration" };
	await ask({ tools: [AGENTS], tool_choice: choice });
	expect(sent().tool_choice).toEqual({ type: "function", function: { name: "collaboration__list_agents" } });
	await ask({ tools: [AGENTS], tool_choice: { type: "allowed_tools", mode: "auto", tools: [choice] } });
	expect(sentNames()).toEqual(["collaboration__list_agents"]);
});

test("names of namespaces fit every server, and the default namespace adds nothing", () => {
	expect(functionName("exec", "functions")).toBe("exec");
	expect(functionName("exec")).toBe("exec");
	expect(functionName("a.b", "mcp server")).toBe("mcp_server__a_b");
	const long = functionName("n".repeat(60), "m".repeat(60));
	expect(long).toMatch(/^[\w-]{64}$/);
	expect(functionName(`${"n".repeat(60)}2`, "m".repeat(60))).not.toBe(long);
});

test("tools and calls that stand in the input take part as those of the request", async () => {
	const { answer } = await ask({
		input: [
			{ type: "additional_tools", role: "developer", tools: [APPLY_PATCH, { type: "namespace", name: "functions", tools: [] }] },
			{ role: "user", content: "edit" },
			{ type: "custom_tool_call", call_id: "c1", name: "apply_patch", input: PATCH },
			{ type: "custom_tool_call_output", call_id: "c1", output: [{ type: "input_text", text: "done" }] },
			{ type: "function_call", call_id: "c2", name: "list_agents", namespace: "collaboration", arguments: "{}" },
			{ type: "function_call_output", call_id: "c2", output: "none" },
			{ type: "local_shell_call", id: "c3", action: { type: "exec", command: ["ls"] }, status: "completed" },
			{ type: "local_shell_call_output", id: "c3", output: "a.txt" },
			{ type: "tool_search_call", call_id: "c4", execution: "client", arguments: { query: "agents" } },
			{ type: "tool_search_output", call_id: "c4", tools: [AGENTS] },
			{ type: "tool_search_call", arguments: {}, execution: "server" },
			{ type: "compaction", encrypted_content: "gAAA" },
			{ type: "agent_message", content: [{ type: "input_text", text: "from another agent" }] },
		],
	});
	expect(sentNames()).toEqual(["apply_patch", "collaboration__list_agents", "collaboration__note"]);
	expect(answer.headers.get("x-service-ignored")).toBe(
		"input[9].tools[0].tools[2] (image_generation), input[10] (tool_search_call), input[11] (compaction)",
	);
	const call = (id: string, name: string, value: object) => ({
		role: "assistant",
		tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify(value) } }],
	});
	expect(sent().messages).toMatchObject([
		{ role: "user", content: "edit" },
		call("c1", "apply_patch", { input: PATCH }),
		{ role: "tool", tool_call_id: "c1", content: [{ type: "text", text: "done" }] },
		call("c2", "collaboration__list_agents", {}),
		{ role: "tool", tool_call_id: "c2", content: "none" },
		call("c3", "local_shell", { type: "exec", command: ["ls"] }),
		{ role: "tool", tool_call_id: "c3", content: "a.txt" },
		call("c4", "tool_search", { query: "agents" }),
		{
			role: "tool",
			tool_call_id: "c4",
			content: '{"tools":["collaboration__list_agents","collaboration__note"]}',
		},
		{ role: "user", content: "from another agent" },
	]);
});

test("a shell, a patch and a search of tools that the caller runs are called in their own forms", async () => {
	const tools = [
		{ type: "local_shell" },
		{ type: "shell", environment: { type: "local" } },
		{ type: "apply_patch" },
		{ type: "tool_search", execution: "client", description: "Finds.", parameters: { type: "object", properties: { q: {} } } },
		{ type: "tool_search" },
		{ type: "shell", environment: { type: "container_auto" } },
		{ type: "web_search", external_web_access: false },
	];
	calls("local_shell", '{"command":["ls","-l"],"timeout_ms":5}');
	const { answer, output } = await ask({ tools });
	expect(sentNames()).toEqual(["local_shell", "shell", "apply_patch", "tool_search"]);
	expect(sent().tools?.[3]?.function).toMatchObject({ description: "Finds.", parameters: { properties: { q: {} } } });
	expect(answer.headers.get("x-service-ignored")).toBe("tools[4] (tool_search), tools[5] (shell), tools[6] (web_search)");
	const action = { type: "exec", command: ["ls", "-l"], timeout_ms: 5, env: {} };
	expect(output).toMatchObject([{ type: "local_shell_call", call_id: "call_1", action, status: "completed" }]);
	calls("shell", '{"commands":["ls"]}');
	expect((await ask({ tools })).output).toMatchObject([{ type: "shell_call", action: { commands: ["ls"] } }]);
	calls("apply_patch", '{"type":"delete_file","path":"a"}');
	expect((await ask({ tools })).output).toMatchObject([
		{ type: "apply_patch_call", operation: { type: "delete_file", path: "a" } },
	]);
	calls("tool_search", '{"q":1}');
	expect((await ask({ tools })).output).toMatchObject([{ type: "tool_search_call", execution: "client", arguments: { q: 1 } }]);
	calls("shell", "ls");
	expect((await ask({ tools })).output).toMatchObject([{ type: "shell_call", arguments: "ls" }]);
	calls("shell", '{"commands":["ls"]}');
	const told = await events({ tools });
	expect(told.map(({ type }) => type)).toContain("response.output_item.done");
	expect(told.map(({ type }) => type)).not.toContain("response.function_call_arguments.delta");
});

test("a call of a tool that is not known here is passed over, and its output with it", async () => {
	const shot = { type: "computer_screenshot", image_url: "data:image/png;base64,AA==" };
	const { answer } = await ask({
		input: [
			{ role: "user", content: "look" },
			{ type: "computer_call", call_id: "c1", action: { type: "screenshot" }, status: "completed" },
			{ type: "computer_call_output", call_id: "c1", output: shot },
			{ type: "future_call", call_id: "c2", name: "n" },
			{ type: "future_call_output", call_id: "c2", output: "r" },
		],
	});
	expect(sent().messages).toEqual([{ role: "user", content: "look" }]);
	expect(answer.headers.get("x-service-ignored")).toBe(
		"input[1] (computer_call), input[2] (computer_call_output), input[3] (future_call), input[4] (future_call_output)",
	);
});

test("what is ignored is told in one header of bounded length, whatever its names", async () => {
	const odd = Array.from({ length: 50 }, () => ({ type: `\u00e9\n${"x".repeat(500)}` }));
	const { answer } = await ask({ tools: odd });
	const told = answer.headers.get("x-service-ignored") ?? "";
	expect(told.length).toBeLessThanOrEqual(1_000);
	expect(told).toMatch(/^tools\[0\] \(\?\?x+/);
});

test.each([200_000, 2_000])("arguments that nest %d deep come back as they were written", async (depth) => {
	const written = `{"command":${"[".repeat(depth)}${"]".repeat(depth)}}`;
	const call = { index: 0, id: "call_1", type: "function", function: { name: "local_shell", arguments: written } };
	const said = { role: "assistant", tool_calls: [call] };
	const wanted = { type: "local_shell_call", action: { type: "exec", command: [], env: {} }, arguments: written };
	const body = { tools: [{ type: "local_shell" }] };
	const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
	upstream.next({ raw: JSON.stringify({ id: "x", choices: [{ index: 0, message: said, finish_reason: "tool_calls" }], usage }) });
	expect((await ask(body)).output).toMatchObject([wanted]);
	const chunk = JSON.stringify({ id: "x", choices: [{ index: 0, delta: said, finish_reason: "tool_calls" }], usage });
	upstream.next({ raw: `data: ${chunk}\n\ndata: [DONE]\n\n`, headers: { "content-type": "text/event-stream" } });
	const done = (await events({ ...body, max_output_tokens: 200_000 })).find(({ type }) => type === "response.output_item.done");
	expect(done?.item).toMatchObject(wanted);
});
