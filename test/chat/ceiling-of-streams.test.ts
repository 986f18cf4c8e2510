/** The ceiling of a stream is one of tokens: chunks and characters only say when to count. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { deltaText, eventsOf, HELLO, pricedModel } from "../support/chat-bodies.ts";
import { chargedFor, type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";

let upstream: ScriptedUpstream;
let gate: RunningGateway;
/** How many characters this test's tokenizer takes for one token. */
let charsPerToken = 4;
beforeAll(async () => {
	upstream = startScriptedUpstream();
	gate = await startGateway({
		config: { upstreams: { scripted: upstreamEntry(upstream.url) }, models: { entries: { priced: pricedModel(["scripted"]) } } },
		countTokens: (text) => Promise.resolve(Math.ceil(text.length / charsPerToken)),
	});
});
beforeEach(() => {
	upstream.reset();
	charsPerToken = 4;
});
afterAll(async () => {
	expect((await gate.audit()).ok).toBe(true);
	await gate.stop();
	await upstream.stop();
});

async function streamed(content: readonly string[], maxTokens: number, usage: "never" | object) {
	upstream.next({ speech: { content }, usage });
	let said = "";
	let reason: string | null | undefined;
	const { post } = await chargedFor(gate, async () => {
		const answer = await gate.chat({ model: "priced", messages: HELLO, stream: true, max_tokens: maxTokens });
		const { chunks, done } = eventsOf(await answer.text());
		expect(done).toBe(true);
		said = deltaText(chunks);
		reason = chunks.flatMap(({ choices }) => choices).findLast(({ finish_reason }) => finish_reason)?.finish_reason;
	});
	return { said, reason, charged: post?.completion_tokens };
}

const LINE = "The quick brown fox jumps over the lazy dog and runs. ";
const told = (completion_tokens: number) => ({ prompt_tokens: 9, completion_tokens, total_tokens: 9 + completion_tokens });

test.each(["never", told(13)] as const)("a character a chunk is no token a chunk (usage: %p)", async (usage) => {
	expect(await streamed([...LINE], 14, usage)).toEqual({ said: LINE, reason: "stop", charged: usage === "never" ? 14 : 13 });
});

test("a long run of one character is as many tokens as it is", async () => {
	charsPerToken = 64;
	const run = "=".repeat(640);
	expect(await streamed([run.slice(0, 320), run.slice(320)], 10, "never")).toEqual({ said: run, reason: "stop", charged: 10 });
});

test("what passes the ceiling by its tokens is cut, and charged no more than that", async () => {
	const { said, reason, charged } = await streamed([...LINE.repeat(4)], 14, "never");
	expect(reason).toBe("length");
	expect(charged).toBe(16);
	expect(LINE.repeat(4)).toStartWith(said);
	// 15.4 tokens are the ceiling: what was counted passes it by less than a count's step.
	expect(said.length).toBeGreaterThanOrEqual(15 * 4);
	expect(said.length).toBeLessThanOrEqual(18 * 4);
});

test("of thousands of chunks the tokens are counted a few times", async () => {
	let counts = 0;
	const chars = [...LINE.repeat(60)];
	const other = await startGateway({
		config: { upstreams: { scripted: upstreamEntry(upstream.url) }, models: { entries: { priced: pricedModel(["scripted"]) } } },
		countTokens: (text) => {
			counts++;
			return Promise.resolve(Math.ceil(text.length / 4));
		},
	});
	try {
		upstream.next({ speech: { content: chars }, usage: told(800) });
		const answer = await other.chat({ model: "priced", messages: HELLO, stream: true, max_tokens: 820 });
		expect(deltaText(eventsOf(await answer.text()).chunks)).toBe(chars.join(""));
		expect(counts).toBeGreaterThan(0);
		expect(counts).toBeLessThan(25);
	} finally {
		await other.stop();
	}
});
