import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../../../test/support/until.ts";
import { checkChatEngine } from "./check.ts";
import { ask, TestEngine } from "./testing/engine.ts";

const running = new TestEngine();
const { engine } = running;
const post = running.post.bind(running);
beforeAll(() => running.start());
afterAll(() => engine.stop());

const LONG = { messages: ask("Tell me a very long story."), max_tokens: 900, stream: true };
const endOf = (response: Response): Promise<string> =>
	response.text().then(
		() => "whole",
		() => "broken off",
	);

describe("the engine's process", () => {
	test("fails only its own requests when it is killed, and the next one starts it again", async () => {
		const end = endOf(await post(LONG));
		const first = engine.pid ?? 0;
		process.kill(first, "SIGKILL");
		expect(await end).toBe("broken off");
		// The client sees the broken socket a moment before the parent sees the exit.
		await until(() => engine.pid !== first);
		running.endpoint = await engine.endpoint();
		expect(engine.pid).not.toBe(first);
		expect((await post({ messages: ask("Hi"), max_tokens: 1 })).status).toBe(200);
	});

	test("shows doctor that it works", async () => {
		expect(await checkChatEngine(engine)).toMatchObject({ state: "ok" });
	});

	test("stays within its memory and goes when it is told to, in the middle of an answer too", async () => {
		const { pid } = engine;
		const rssBytes = await engine.rssBytes();
		expect(rssBytes).toBeGreaterThan(50e6);
		expect(rssBytes).toBeLessThan(1_000e6);
		const end = endOf(await post(LONG));
		await engine.stop();
		expect(await end).toBe("broken off");
		expect(engine.pid).toBeNull();
		expect(() => process.kill(pid ?? 0, 0)).toThrow();
		await expect(engine.endpoint()).rejects.toMatchObject({ code: "MODEL_OFFLINE" });
	});
});
