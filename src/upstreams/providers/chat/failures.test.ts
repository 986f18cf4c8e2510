import { describe, expect, test } from "bun:test";
import { chatForward, textModel } from "../../../../test/support/chat-forward.ts";
import { CALLS, SCRIPTS, TALK } from "../../../../test/support/providers/index.ts";
import { talkTo } from "../../../../test/support/providers/talk.ts";
import { errorPlay, type Play, playOf } from "../../../../test/support/providers/upstream.ts";
import { until } from "../../../../test/support/until.ts";
import { codeOf, contentOf, drain } from "../../../../test/support/upstream-pair.ts";
import { ApiError } from "../../../errors/index.ts";

/** What the caller gets; what of it stands in docs/chat.md. */
const CODES = {
	busy: "MODEL_OVERLOADED",
	account: "MODEL_OFFLINE",
	request: "INVALID_REQUEST",
	missing: "MODEL_OFFLINE",
	broken: "INFERENCE_FAILED",
} as const;

const encoder = new TextEncoder();

for (const script of SCRIPTS) {
	describe(script.provider, () => {
		const talk = talkTo(script);
		const model = textModel([{ model: script.model }], { supportsReasoning: true });
		const open = (play: Play, signal = new AbortController().signal) => {
			talk.played.next(play);
			const body = { model: "test-model", messages: [{ role: "user", content: "hello" }], stream: true };
			return talk.upstreams.stream(chatForward(body, { model, signal }));
		};
		/** The stream's bytes up to where the last of its text has been told. */
		const part = (scene = TALK) => {
			const { bytes } = playOf(script, true, scene);
			const place = Buffer.from(bytes).indexOf(encoder.encode("Welt"));
			return bytes.slice(0, place + (script.provider === "bedrock" ? 0 : 1));
		};

		for (const kind of ["busy", "account", "request", "missing", "broken"] as const) {
			const wanted = CODES[kind];
			test(`its words for "${kind}" come as our ${wanted}`, async () => {
				for (const stream of [false, true]) {
					talk.played.next(errorPlay(script.errors[kind]));
					expect(await codeOf(talk.hear({ stream }))).toBe(wanted);
				}
			});
		}

		test("a refused request tells why, and nothing of our account is told", async () => {
			talk.played.next(errorPlay(script.errors.request));
			const refused = await talk.hear().catch((error: unknown) => error);
			if (!(refused instanceof ApiError)) throw refused;
			const told = JSON.stringify(script.errors.request.body);
			expect(refused.message.length).toBeGreaterThan(10);
			expect(told).toContain(refused.message.split(": ").at(-1) ?? refused.message);
			talk.played.next(errorPlay(script.errors.account));
			const offline = await talk.hear().catch((error: unknown) => error);
			expect(String(offline)).toContain("the operator has been notified");
		});

		test("a busy provider's pause is told", async () => {
			talk.played.next(errorPlay(script.errors.busy));
			const busy = await talk.hear().catch((error: unknown) => error);
			const names = JSON.stringify(script.errors.busy).includes("17");
			expect(busy).toMatchObject({ options: { retryAfterSeconds: names ? 17 : 5 } });
		});

		test("a page of HTML, no JSON and an empty body are a broken answer", async () => {
			for (const text of ["<html>502</html>", "{not json", ""]) {
				talk.played.next({ bytes: encoder.encode(text), headers: { "content-type": "text/html" } });
				expect(await codeOf(talk.hear())).toBe("INFERENCE_FAILED");
				talk.played.next({ bytes: encoder.encode(text), headers: { "content-type": "text/html" } });
				expect(await codeOf(talk.hear({ stream: true }))).toBe("INFERENCE_FAILED");
			}
		});

		test("a redirect is not followed", async () => {
			talk.played.next({ bytes: new Uint8Array(), status: 307, headers: { location: "http://127.0.0.1:1/" } });
			expect(await codeOf(talk.hear())).toBe("INFERENCE_FAILED");
		});

		test("a stream that breaks in the middle, by its socket or by its end, ends in an error without an end", async () => {
			for (const breaks of [true, false]) {
				const said = Promise.withResolvers<void>();
				const stream = open({ bytes: part(), headers: { "content-type": script.streamType }, breaks, after: said.promise });
				const texts: string[] = [];
				const heard = stream.each(({ events, done }) => {
					texts.push(...events.map(({ text }) => text));
					expect(done).toBe(false);
					if (contentOf(texts) === "Grüße, ") said.resolve();
					return null;
				});
				expect(await codeOf(heard)).toBe("INFERENCE_FAILED");
				expect(contentOf(texts)).toBe("Grüße, ");
				expect(texts.some((text) => text.includes('"finish_reason":"'))).toBe(false);
			}
		});

		test("a stream that breaks before anything was said lets the next upstream take over", async () => {
			const { bytes } = playOf(script, true, TALK);
			const nothing = bytes.slice(0, 20);
			for (const breaks of [true, false]) {
				const stream = open({ bytes: nothing, headers: { "content-type": script.streamType }, breaks });
				expect(await codeOf(stream.opened)).toBe("INFERENCE_FAILED");
			}
		});

		if (script.streamError !== null) {
			const { streamError } = script;
			test("an error event before anything was said is a failure with a status, later an error of the stream", async () => {
				const headers = { "content-type": script.streamType };
				const code = await codeOf(open({ bytes: streamError, headers }).opened);
				expect(["MODEL_OVERLOADED", "MODEL_AT_CAPACITY", "INFERENCE_FAILED"]).toContain(code);
				const whole = Buffer.from(part());
				const border = script.provider === "bedrock" ? lastFrame(whole) : whole.lastIndexOf("\n\n") + 2;
				const { texts, done, error } = await drain(
					open({ bytes: Buffer.concat([whole.subarray(0, border), streamError]), headers }),
				);
				expect(contentOf(texts)).toBe("Grüße, ");
				expect([done, (error as ApiError).code]).toEqual([false, code as ApiError["code"]]);
			});
		}

		test("a caller who leaves ends the provider's request at once, whole or streamed", async () => {
			const headers = { "content-type": script.streamType };
			const leaving = new AbortController();
			const stream = open({ bytes: part(), headers, hangs: true }, leaving.signal);
			await stream.opened;
			leaving.abort(new Error("left"));
			await until(() => talk.played.requests.at(-1)?.signal.aborted === true, "the stream's request is aborted");
			const unary = new AbortController();
			talk.played.next({ bytes: new Uint8Array(), hangs: true });
			const whole = talk.hear({}, { signal: unary.signal });
			const left = new Error("left");
			await until(() => talk.played.requests.length > 1 && !talk.played.requests.at(-1)?.signal.aborted, "it was asked");
			unary.abort(left);
			expect(await whole.catch((error: unknown) => error)).toBe(left);
			expect(talk.played.requests.at(-1)?.signal.aborted).toBe(true);
		});

		test("a stream that is cancelled ends the provider's request", async () => {
			const stream = open({ bytes: part(), headers: { "content-type": script.streamType }, hangs: true });
			await stream.opened;
			stream.cancel();
			await until(() => talk.played.requests.at(-1)?.signal.aborted === true, "the request is aborted");
		});
	});
}

describe("any provider", () => {
	const [script] = SCRIPTS;
	if (script === undefined) throw new Error("no script");

	test("is put out after faults, and back where its address answers and a request goes well", async () => {
		const talk = talkTo(script, { config: { health: { failures: 3, probeEveryMs: 5 } } });
		talk.played.next(errorPlay(script.errors.broken));
		for (let fault = 0; fault < 3; fault++) await codeOf(talk.hear());
		// It refuses a question without its key, and is there: the answers so far were none of a server that works.
		talk.played.next(errorPlay(script.errors.account));
		await until(() => talk.upstreams.snapshot()[0]?.state === "trial", "it is on trial");
		expect(talk.played.requests.at(-1)?.headers.get("x-api-key")).toBeNull();
		talk.played.next(playOf(script, false, TALK));
		await talk.hear();
		expect(talk.upstreams.snapshot()[0]?.state).toBe("up");
		talk.upstreams.close();
	});

	test("that says nothing in time is given up, at its first word and in the middle", async () => {
		for (const other of SCRIPTS.filter(({ provider }) => ["anthropic", "google", "bedrock"].includes(provider))) {
			const headers = { "content-type": other.streamType };
			const silent = talkTo(other, { timeouts: { chatFirstByteMs: 20, chatUnaryMs: 20 } });
			silent.played.next({ bytes: new Uint8Array(), headers, hangs: true });
			for (const stream of [false, true]) expect(await codeOf(silent.hear({ stream }))).toBe("REQUEST_TIMEOUT");
			const stuck = talkTo(other, { timeouts: { chatIdleMs: 20 } });
			const { bytes } = playOf(other, true, TALK);
			stuck.played.next({ bytes: bytes.slice(0, bytes.length - 20), headers, hangs: true });
			expect(await codeOf(stuck.hear({ stream: true }))).toBe("REQUEST_TIMEOUT");
			expect(stuck.played.requests.at(-1)?.signal.aborted).toBe(true);
		}
	});

	test("that offers no chat serves no chat", async () => {
		expect(await codeOf(talkTo({ ...script, provider: "elevenlabs" }).hear())).toBe("MODEL_OFFLINE");
	});

	test("whose refusal comes before it said anything refuses by our policy error", async () => {
		for (const other of SCRIPTS.filter(({ provider }) => ["anthropic", "google", "bedrock"].includes(provider))) {
			const talk = talkTo(other);
			for (const stream of [false, true]) {
				talk.played.next(playOf(other, stream, { ...TALK, thoughts: [], text: [], end: "refused" }));
				expect(await codeOf(talk.hear({ stream }))).toBe("CONTENT_POLICY_VIOLATION");
			}
		}
	});

	test("that is asked for several choices is not asked", async () => {
		const talk = talkTo(script);
		talk.played.next(playOf(script, false, CALLS));
		const error = await talk.hear({ n: 2 }).catch((thrown: unknown) => thrown);
		expect(error).toMatchObject({ code: "INVALID_REQUEST", options: { param: "n" } });
		expect(talk.played.requests).toEqual([]);
	});
});

/** Where the last whole event of an event stream ends. */
function lastFrame(bytes: Buffer): number {
	let at = 0;
	while (at + 4 <= bytes.length && at + bytes.readUInt32BE(at) <= bytes.length) at += bytes.readUInt32BE(at);
	return at;
}
