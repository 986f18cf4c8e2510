import { afterAll, beforeAll, expect, test } from "bun:test";
import { parseChatRequest } from "./chat-request.ts";
import { TestEngine } from "./testing/engine.ts";

const fixture = new TestEngine();
beforeAll(() => fixture.start());
afterAll(() => fixture.engine.stop());

const messages = [{ role: "user", content: "Say hello" }];

test("repeating itself costs the model a little, unless the caller or a grammar says otherwise", () => {
	const penalty = (body: object) => parseChatRequest({ messages, ...body }).sampling.repetitionPenalty;
	expect(penalty({})).toBeGreaterThan(1);
	expect(penalty({ repetition_penalty: 1 })).toBe(1);
	expect(penalty({ repetition_penalty: 1.5, response_format: { type: "json_object" } })).toBe(1.5);
	expect(penalty({ response_format: { type: "json_object" } })).toBe(1);
	expect(penalty({ response_format: { type: "text" } })).toBeGreaterThan(1);
});

test("a short question gets an answer that ends by itself", async () => {
	for (let seed = 0; seed < 4; seed++) {
		const answer = (await (await fixture.post({ messages, seed })).json()) as {
			choices: { finish_reason: string; message: { content: string } }[];
		};
		expect(answer.choices[0]?.finish_reason).toBe("stop");
		expect(answer.choices[0]?.message.content).toMatch(/[a-z]/i);
	}
});
