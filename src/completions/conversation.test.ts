import { expect, test } from "bun:test";
import { Conversation, textPart } from "./conversation.ts";

const image = { type: "image_url" as const, image_url: { url: "https://img.example/a.png" } };

test("what an assistant thinks, says and calls in one turn is one message", () => {
	const conversation = new Conversation();
	conversation.user("hello");
	conversation.thought({ text: "hm", details: [1], signature: "s" });
	conversation.assistantText("One");
	conversation.assistantText([textPart("two")]);
	conversation.assistantCalled({ id: "a", name: "f", arguments: "{}" });
	conversation.thought({ text: "ah", details: [2] });
	conversation.assistantCalled({ id: "b", name: "g", arguments: "{}" });
	conversation.result("a", "1");
	conversation.assistantText("Done.");
	expect(conversation.finish()).toEqual([
		{ role: "user", content: "hello" },
		{
			role: "assistant",
			reasoning_content: "hmah",
			reasoning_details: [1, 2],
			thought_signature: "s",
			content: [textPart("One"), textPart("two")],
			tool_calls: [
				{ id: "a", type: "function", function: { name: "f", arguments: "{}" } },
				{ id: "b", type: "function", function: { name: "g", arguments: "{}" } },
			],
		},
		{ role: "tool", tool_call_id: "a", content: "1" },
		{ role: "assistant", content: "Done." },
	] as never);
});

test("images of results follow in one message of the user, before what the user says", () => {
	const conversation = new Conversation();
	conversation.assistantCalled({ id: "a", name: "f", arguments: "{}" });
	conversation.result("a", [], [image]);
	conversation.result("a", "2", [image]);
	conversation.user("and now?");
	conversation.result("a", "3", [image]);
	expect(conversation.finish().slice(1)).toEqual([
		{ role: "tool", tool_call_id: "a", content: "" },
		{ role: "tool", tool_call_id: "a", content: "2" },
		{ role: "user", content: [image, image, textPart("and now?")] },
		{ role: "tool", tool_call_id: "a", content: "3" },
		{ role: "user", content: [image] },
	]);
});

test("a turn of thoughts alone says nothing, and each message knows its source", () => {
	const conversation = new Conversation();
	for (const [index, text] of ["a", "b"].entries()) {
		conversation.from(index * 10);
		conversation.user(text);
	}
	conversation.from(30);
	conversation.thought({ text: "hm" });
	expect(conversation.finish().at(-1)).toEqual({ role: "assistant", reasoning_content: "hm", content: "" });
	expect([0, 1, 2].map((message) => conversation.sourceOf(message))).toEqual([0, 10, 30]);
});
