import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { CALLS, CUT, type ProviderScript, SCRIPTS, type Scene, TALK } from "../../../../test/support/providers/index.ts";
import { type Heard, LOOKUP, talkTo } from "../../../../test/support/providers/talk.ts";
import { type Play, playOf } from "../../../../test/support/providers/upstream.ts";

const SCENES = { "thoughts and text": TALK, "two calls of tools": CALLS, "an answer cut by its maximum": CUT };
const ASKED = { max_completion_tokens: 4_000, reasoning_effort: "low" };

for (const script of SCRIPTS) {
	describe(script.provider, () => {
		const talk = talkTo(script);
		const hear = (scene: Scene, stream: boolean, play?: Partial<Play>) => {
			talk.played.next({ ...playOf(script, stream, scene), ...play });
			return talk.hear({ ...ASKED, stream, ...(scene.calls.length > 0 ? { tools: [LOOKUP] } : {}) });
		};

		for (const [name, scene] of Object.entries(SCENES)) {
			test.each([false, true])(`gives ${name}; streamed: %p`, async (stream) => {
				expect(comparable(await hear(scene, stream))).toEqual(expected(script, scene));
			});
		}

		test("is asked in its own protocol, with its credential and our request id", async () => {
			for (const stream of [false, true]) {
				await hear(TALK, stream);
				const request = talk.played.requests.at(-1);
				if (request === undefined) throw new Error("nothing was asked");
				expect(script.complaints(request)).toEqual([]);
				expect(request.path).toBe(script.path(stream));
				expect(request.headers.get("x-request-id")).toBe("0123456789abcdef0123456789abcdef");
				expect(request.headers.get("user-agent")).toBe("turnpike");
			}
		});

		test("gives the same however the bytes of its stream are cut", async () => {
			for (const scene of [TALK, CALLS]) {
				const { bytes } = playOf(script, true, scene);
				const whole = comparable(await hear(scene, true));
				const everywhere = Array.from({ length: bytes.length - 1 }, (_, index) => index + 1);
				expect(comparable(await hear(scene, true, { cuts: everywhere }))).toEqual(whole);
				const cuts = fc.array(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 12 });
				await fc.assert(
					fc.asyncProperty(cuts, async (places) => {
						expect(comparable(await hear(scene, true, { cuts: places }))).toEqual(whole);
					}),
					{ numRuns: 25 },
				);
			}
		});

		if (script.streamType.startsWith("text/event-stream")) {
			test("gives the same with other line ends, and with comments and blank lines between events", async () => {
				const { bytes } = playOf(script, true, CALLS);
				const text = new TextDecoder().decode(bytes);
				const whole = comparable(await hear(CALLS, true));
				for (const other of [text.replaceAll("\n", "\r\n"), text.replaceAll("\n\n", "\n\n: keep-alive\n\n\n")]) {
					const written = new TextEncoder().encode(other);
					const cuts = Array.from({ length: 40 }, (_, index) => Math.floor((written.length * (index + 1)) / 41));
					expect(comparable(await hear(CALLS, true, { bytes: written, cuts }))).toEqual(whole);
				}
			});
		}
	});
}

test("an event of two megabytes comes whole", async () => {
	const [script] = SCRIPTS;
	if (script === undefined) throw new Error("no script");
	const talk = talkTo(script);
	const long = "0123456789abcdef".repeat(131_072);
	talk.played.next({ ...playOf(script, true, { ...TALK, text: [long] }), cuts: [100_000, 1_000_000] });
	expect((await talk.hear({ ...ASKED, stream: true })).content).toBe(long);
});

/** Without what differs from answer to answer: ids that a package makes, and what is opaque. */
function comparable({ content, thoughts, calls, finish, usage }: Heard) {
	return {
		content: content ?? "",
		thoughts,
		calls: calls.map(({ name, arguments: text }) => ({ name, arguments: text })),
		finish,
		usage,
	};
}

function expected(script: ProviderScript, scene: Scene): ReturnType<typeof comparable> {
	const { usage } = scene;
	return {
		content: scene.text.join(""),
		thoughts: scene.thoughts.join(""),
		calls: scene.calls.map(({ name, pieces }) => ({ name, arguments: pieces.join("") })),
		finish: scene.end,
		usage: {
			promptTokens: usage.input,
			completionTokens: usage.output,
			cachedTokens: script.tells.cached ? usage.cached : 0,
			cacheWriteTokens: script.tells.written ? usage.written : 0,
			reasoningTokens: script.tells.thoughts ? usage.thoughts : 0,
			counted: false,
		},
	};
}
