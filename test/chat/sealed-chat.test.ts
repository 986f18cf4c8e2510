/** Sealed conversations with servers that attest, as docs/sealed-chat.md says them: over the whole gateway. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { type AttestingUpstream, PIECES, USAGE } from "../support/attesting-upstream.ts";
import { priceOf } from "../support/chat-bodies.ts";
import { type RunningGateway, startGateway } from "../support/running-gateway.ts";
import type { SealedClient } from "../support/sealed-client.ts";
import { seal } from "../support/sealed-crypto.ts";
import { type SealedGateway, startSealedGateway, user } from "../support/sealed-gateway.ts";
import { until } from "../support/until.ts";

const SECRET = "the plans of the submarine";

let fixture: SealedGateway;
let one: AttestingUpstream;
let two: AttestingUpstream;
let gate: RunningGateway;
let client: SealedClient;

beforeAll(async () => {
	fixture = await startSealedGateway();
	({ one, two, gate, client } = fixture);
});
afterEach(() => fixture.reset());
afterAll(async () => {
	expect(await fixture.stop()).toEqual({ holdsOpen: 0, findings: [] });
});

const lastPost = async () => (await gate.posts()).at(-1);

describe("a sealed conversation", () => {
	test("reaches the model in its words, and its answer the client, while nothing between them is in plain", async () => {
		const told = await client.ask([
			{ role: "system", content: "Be brief." },
			{ role: "developer", content: "in plain" },
			{ role: "user", content: SECRET },
			{ role: "assistant", content: "Which?" },
			{ role: "user", content: "All – ünïcode" },
		]);
		expect(told.text).toBe(PIECES.join(""));
		expect(told.isDone).toBe(true);
		const heard = one.heard.at(-1);
		expect(heard?.contents).toEqual(["Be brief.", "in plain", SECRET, "Which?", "All – ünïcode"]);
		expect(heard?.text).not.toContain(SECRET);
		expect(told.responseBody).not.toContain("words");
		expect(told.packets).toEqual(one.packetTexts);
	});

	test("goes upstream with its packets and keys as they came", async () => {
		const messages = client.sealed(user(SECRET));
		await (await client.post({ messages })).text();
		const heard = one.heard.at(-1);
		expect(heard?.text).toContain(JSON.stringify(messages));
		expect(heard?.headers.get("x-client-pub-key")).toBe(client.keys.publicKey);
		expect(heard?.headers.get("x-model-pub-key")).toBe(client.attestation.signing_key);
		expect(heard?.headers.get("x-signing-algo")).toBe("ecdsa");
	});

	test("costs what its server counts", async () => {
		const told = await client.ask(user(SECRET), { stream_options: { include_usage: true } });
		expect(told.chunks.at(-1)?.usage).toMatchObject(USAGE);
		const post = await lastPost();
		expect(post).toMatchObject({ status: 200, price: priceOf(USAGE), prompt_tokens: 21, completion_tokens: 7 });
		expect(post?.tokens_counted).toBe(0);
	});

	test("whose server counts nothing costs a third of the bytes of the plaintext", async () => {
		one.behave({ withoutUsage: true });
		await client.ask(user("x".repeat(300)));
		const said = Buffer.byteLength(PIECES.join(""));
		expect(await lastPost()).toMatchObject({
			prompt_tokens: 100 + 4 + 3,
			completion_tokens: Math.ceil(said / 3),
			tokens_counted: 1,
		});
	});

	test("that its client leaves costs what was said so far, and stops the server", async () => {
		one.behave({ hangAfter: 2 });
		const before = (await gate.posts()).length;
		const leaving = new AbortController();
		const response = await client.post({ messages: client.sealed(user("x".repeat(30))) }, { signal: leaving.signal });
		const reader = response.body?.getReader();
		let text = "";
		while (text.split("data:").length < 4) text += new TextDecoder().decode((await reader?.read())?.value);
		leaving.abort();
		await one.heard.at(-1)?.aborted;
		await until(async () => (await gate.posts()).length > before, "the post");
		const said = Buffer.byteLength(PIECES.slice(0, 2).join(""));
		expect(await lastPost()).toMatchObject({ status: 499, prompt_tokens: 10 + 7, completion_tokens: Math.ceil(said / 3) });
	});

	test("that its server breaks costs what was said so far", async () => {
		const received = Promise.withResolvers<void>();
		one.behave({ cutAfter: 3, beforeCut: received.promise });
		const response = await client.post({ messages: client.sealed(user("x".repeat(30))) });
		let text = "";
		for await (const bytes of response.body ?? []) {
			text += new TextDecoder().decode(bytes);
			// The role and three pieces.
			if (text.split("data:").length > 4) received.resolve();
		}
		expect(text).toContain('"error"');
		const said = Buffer.byteLength(PIECES.slice(0, 3).join(""));
		expect(await lastPost()).toMatchObject({ prompt_tokens: 10 + 7, completion_tokens: Math.ceil(said / 3), tokens_counted: 1 });
	});

	test("is held for by the size of its plaintext, and ended by what the packets hold", async () => {
		// 186 digits of frame a piece would be 23 tokens each: far over a maximum of 16 with six pieces.
		const told = await client.ask(user(SECRET), { max_completion_tokens: 16 });
		expect(told.text).toBe(PIECES.join(""));
		// A context of 8,192 tokens, asked with 4,000 bytes: as hex alone they would not fit.
		expect((await client.ask(user("y".repeat(4_000)), { max_completion_tokens: 1_024 })).isDone).toBe(true);
	});

	test("goes to the server that holds the key, whichever that is", async () => {
		const first = await fixture.clientOf("e2ee-two");
		expect(first.attestation.signing_key).toBe(one.keys.publicKey);
		one.behave({ reportStatus: 500 });
		const second = await fixture.clientOf("e2ee-two");
		expect(second.attestation.signing_key).toBe(two.keys.publicKey);
		const [atOne, atTwo] = [one.heard.length, two.heard.length];
		for (let count = 0; count < 3; count++) await second.ask(user("to two"));
		await first.ask(user("to one"));
		expect([one.heard.length - atOne, two.heard.length - atTwo]).toEqual([1, 3]);
		// A server that fails is not stood in for by one with another key.
		two.behave({ status: 500 });
		expect((await second.post({ messages: second.sealed(user("x")) })).status).toBe(500);
		expect(one.heard.length - atOne).toBe(1);
	});

	test("finds the holder of a key that this node has not seen", async () => {
		const gateway = await startGateway(fixture.options);
		try {
			const headers = { ...client.headers, "X-Service-TEE-Model-Pub-Key": two.keys.publicKey.slice(2) };
			const messages = [{ role: "user", content: seal("hello", two.keys.publicKey) }];
			const response = await gateway.chat({ model: "e2ee-two", stream: true, messages }, { headers });
			expect(response.status).toBe(200);
			await response.text();
			expect(two.heard.at(-1)?.contents).toEqual(["hello"]);
		} finally {
			await gateway.stop();
		}
	});

	test("uses no web, no prompt of the service and no think blocks, without a word", async () => {
		const options = {
			enable_web_search: "on",
			enable_web_scraping: true,
			enable_x_search: true,
			include_service_system_prompt: true,
			strip_thinking_response: true,
			disable_thinking: true,
			include_search_results_in_stream: true,
		};
		const repaired = await fixture.clientOf("e2ee-repaired");
		const told = await repaired.ask(user("see https://example.com"), { service_parameters: options });
		expect(told.text).toBe(PIECES.join(""));
		expect(told.packets).toEqual(one.packetTexts);
		expect(one.heard.at(-1)?.contents).toEqual(["see https://example.com"]);
		expect(told.chunks[0]?.service_parameters).toMatchObject({
			enable_e2ee: true,
			enable_web_search: "off",
			enable_web_scraping: false,
			include_service_system_prompt: false,
			strip_thinking_response: false,
			disable_thinking: true,
		});
	});

	test("with enable_e2ee: false is a plain one", async () => {
		const body = { messages: user("in plain"), service_parameters: { enable_e2ee: false } };
		const text = await (await client.post(body)).text();
		expect(text).toContain("words");
		expect(one.heard.at(-1)?.headers.get("x-client-pub-key")).toBeNull();
		expect(one.heard.at(-1)?.contents).toContain("You speak for the service.");
	});

	test("a plain one with the same model needs nothing else", async () => {
		const response = await gate.chat({ model: "e2ee-one", messages: user("hi") });
		expect(response.status).toBe(200);
		expect(await response.text()).toContain("Sealed words");
	});
});
