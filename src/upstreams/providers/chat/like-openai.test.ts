import { describe, expect, test } from "bun:test";
import { CALLS, LIKE_OPENAI_SCRIPTS, sse, TALK } from "../../../../test/support/providers/index.ts";
import { LOOKUP, talkTo } from "../../../../test/support/providers/talk.ts";
import { playOf } from "../../../../test/support/providers/upstream.ts";

describe.each(LIKE_OPENAI_SCRIPTS.map((script) => [script.provider, script] as const))("%s", (provider, script) => {
	test.each([false, true])("talks, calls tools, tells its usage; streamed: %p", async (stream) => {
		const talk = talkTo(script);
		for (const scene of [TALK, CALLS]) {
			talk.played.next(playOf(script, stream, scene));
			const heard = await talk.hear({ stream, max_completion_tokens: 500, ...(scene === CALLS ? { tools: [LOOKUP] } : {}) });
			expect(heard.content).toBe(scene.text.join(""));
			expect(heard.calls.map((call) => call.arguments)).toEqual(scene.calls.map(({ pieces }) => pieces.join("")));
			expect(heard.finish).toBe(scene.end === "refused" ? null : scene.end);
			expect(heard.usage).toMatchObject({ promptTokens: scene.usage.input, completionTokens: scene.usage.output });
			const [request] = talk.played.requests.slice(-1);
			if (request === undefined) throw new Error("nothing was asked");
			const complaints = script.complaints(request);
			// Azure has a header of its own for its key.
			expect(provider === "azure" ? [request.headers.get("api-key")] : complaints).toEqual(
				provider === "azure" ? ["key-azure-scripted"] : [],
			);
			expect(request.path).toBe(script.path(stream));
			expect([request.body.max_tokens, request.body.max_completion_tokens]).toContain(500);
		}
	});
});

test("the sources of an answer are its annotations, whole and streamed", async () => {
	const [any] = LIKE_OPENAI_SCRIPTS;
	if (any === undefined) throw new Error("no script");
	const talk = talkTo({ ...any, provider: "perplexity", model: "sonar" });
	const citations = ["https://a.example/x", "https://b.example/y"];
	const base = { id: "scripted", created: 1_767_225_600, model: "sonar", citations };
	const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };
	const message = { role: "assistant", content: "Tea." };
	const whole = { ...base, object: "chat.completion", choices: [{ index: 0, message, finish_reason: "stop" }], usage };
	const chunk = (delta: object, finish_reason: string | null) =>
		[null, { ...base, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }], usage }] as const;
	const chunks = sse([chunk(message, null), chunk({ role: "assistant", content: "" }, "stop"), [null, "[DONE]"]]);
	for (const stream of [false, true]) {
		talk.played.next(
			stream
				? { bytes: chunks, headers: { "content-type": "text/event-stream" } }
				: { bytes: new TextEncoder().encode(JSON.stringify(whole)), headers: { "content-type": "application/json" } },
		);
		const heard = await talk.hear({ stream });
		expect(heard.content).toBe("Tea.");
		expect(heard.annotations).toEqual(citations.map((url) => ({ type: "url_citation", url_citation: { url, title: "" } })));
	}
});
