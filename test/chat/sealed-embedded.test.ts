/** Sealed conversations with the built-in model, over the whole gateway and the real engine: docs/sealed-chat.md */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { TestEngine } from "../../src/engines/chat/testing/engine.ts";
import { pricedModel, priceOf } from "../support/chat-bodies.ts";
import { type RunningGateway, startGateway } from "../support/running-gateway.ts";
import { isSignatureOf, type Message, SealedClient } from "../support/sealed-client.ts";
import { createKeys, seal } from "../support/sealed-crypto.ts";
import { until } from "../support/until.ts";

type Signed = Parameters<typeof isSignatureOf>[0];

const MODEL = "e2ee-small";
const REPEATABLE = { temperature: 0, max_completion_tokens: 8 };
const HELLO: Message[] = [
	{ role: "system", content: "You are brief." },
	{ role: "user", content: "Say hello – ünïcode" },
];
const user = (content: string): Message[] => [{ role: "user", content }];

const engine = new TestEngine();
let gate: RunningGateway;
let client: SealedClient;

beforeAll(async () => {
	await engine.start();
	gate = await startGateway({
		embedded: engine.engine,
		config: {
			limits: { failedRequests: 0 },
			models: { entries: { [MODEL]: pricedModel(["embedded"], { capabilities: { supportsE2EE: true } }) } },
		},
	});
	client = await SealedClient.of(`${gate.url}/api/v1`, gate.key, MODEL);
});
afterAll(async () => {
	expect((await gate.audit()).findings).toEqual([]);
	await gate.stop();
	await engine.engine.stop();
});

const lastPost = async () => (await gate.posts()).at(-1);
const statusOf = async (response: Promise<Response>) => {
	const { status, body } = await response;
	await body?.cancel();
	return status;
};

test("the attestation says that nothing is verified, and why", () => {
	const { attestation } = client;
	expect(attestation).toMatchObject({ verified: false, model: MODEL, tee_provider: "software", intel_quote: "" });
	expect(attestation.reason).toContain("no enclave");
	expect(attestation.signing_key).toMatch(/^04[0-9a-f]{128}$/);
	expect(attestation.signing_address).toMatch(/^0x[0-9a-f]{40}$/);
});

test("a sealed conversation says what a plain one does, sealed for the client alone, at the same price", async () => {
	const body = { ...REPEATABLE, stream_options: { include_usage: true } };
	const told = await client.ask(HELLO, body);
	const plain = (await (await gate.chat({ model: MODEL, messages: HELLO, ...REPEATABLE })).json()) as {
		choices: [{ message: { content: string } }];
		usage: { prompt_tokens: number; completion_tokens: number };
	};
	expect(told.text).toBe(plain.choices[0].message.content);
	expect(told.text).not.toBe("");
	expect(told.isDone).toBe(true);
	expect(told.packets.length).toBeGreaterThan(0);
	expect(told.responseBody).not.toContain(told.text);
	expect(new Set(told.packets.map((packet) => packet.slice(130, 154))).size).toBe(told.packets.length);
	expect(told.chunks.at(-1)?.usage).toMatchObject(plain.usage);
	const prices = (await gate.posts()).slice(-2).map(({ price }) => price);
	expect(prices).toEqual([priceOf(plain.usage), priceOf(plain.usage)]);
});

test("the signature is of the bytes that the client sent and got, in a stream and in a whole answer", async () => {
	const told = await client.ask(HELLO, REPEATABLE);
	const signed = (await (await client.signature(told.id)).json()) as Signed;
	expect(signed.signing_address).toBe(client.attestation.signing_address);
	expect(await isSignatureOf(signed, told.requestBody, told.responseBody)).toBe(true);
	expect(await isSignatureOf(signed, `${told.requestBody} `, told.responseBody)).toBe(false);

	const body = { model: MODEL, messages: HELLO, ...REPEATABLE };
	const whole = await (await gate.chat(body)).text();
	const { id } = JSON.parse(whole) as { id: string };
	expect(await isSignatureOf((await (await client.signature(id)).json()) as Signed, JSON.stringify(body), whole)).toBe(true);
});

test("the signature of a plain chat is of its body as it came, also where a long file in it was read", async () => {
	const rtf = `{\\rtf1 {\\*\\unknown ${"a".repeat(300_000)}}Tea.}`;
	const file_data = `data:text/rtf;base64,${Buffer.from(rtf).toString("base64")}`;
	const messages = [{ role: "user", content: [{ type: "file", file: { file_data } }] }];
	const body = { model: MODEL, messages, ...REPEATABLE, max_completion_tokens: 2 };
	const whole = await (await gate.chat(body)).text();
	const { id } = JSON.parse(whole) as { id: string };
	expect(await isSignatureOf((await (await client.signature(id)).json()) as Signed, JSON.stringify(body), whole)).toBe(true);
});

test("a signature is for the account that asked, and for what was answered", async () => {
	const { id } = await client.ask(user("hi"), REPEATABLE);
	const other = await gate.newKey({ creditUsd: "1", key: { type: "INFERENCE" } });
	const query = `/tee/signature?model=${MODEL}&request_id=${id}`;
	const asked = (key: string) => statusOf(gate.call("GET", query, undefined, { authorization: `Bearer ${key}` }));
	expect([await asked(gate.key), await asked(other.secret)]).toEqual([200, 404]);
	expect(await statusOf(client.signature("chatcmpl-nobody"))).toBe(404);
});

test("what does not open is refused, and costs nothing", async () => {
	const posts = (await gate.posts()).length;
	const packet = client.seal("hello");
	const tampered = packet.slice(0, -1) + (packet.endsWith("0") ? "1" : "0");
	for (const content of [tampered, seal("hello", createKeys().publicKey), `04${"0".repeat(184)}`]) {
		const response = await client.post({ messages: user(content) });
		expect(response.status).toBe(400);
		expect(await response.text()).toContain("does not open");
	}
	const messages = client.sealed(user("x"));
	const withKey = (name: string, key: string) => client.post({ messages }, { headers: { ...client.headers, [name]: key } });
	expect(await statusOf(withKey("X-Service-TEE-Model-Pub-Key", createKeys().publicKey))).toBe(400);
	expect(await statusOf(withKey("X-Service-TEE-Client-Pub-Key", `04${"1".repeat(128)}`))).toBe(400);
	expect((await gate.posts()).slice(posts).every(({ price }) => price === 0)).toBe(true);
});

test("a developer's message goes sealed or in plain", async () => {
	for (const content of [client.seal("Be brief."), "Be brief."]) {
		const messages = [{ role: "developer", content }, ...client.sealed(user("hi"))];
		expect(await statusOf(client.post({ messages, ...REPEATABLE }))).toBe(200);
	}
});

test("a client that leaves stops the engine, and pays for what was said", async () => {
	const before = (await gate.posts()).length;
	const leaving = new AbortController();
	const messages = client.sealed(user("Count from one to five hundred."));
	const response = await client.post({ messages, max_completion_tokens: 500 }, { signal: leaving.signal });
	await response.body?.getReader().read();
	leaving.abort();
	await until(async () => (await gate.posts()).length > before, "the post");
	const post = await lastPost();
	expect(post).toMatchObject({ status: 499, tokens_counted: 1 });
	expect(post?.completion_tokens ?? 500).toBeLessThan(500);
	// The lane is free again: the next one is answered.
	expect((await client.ask(user("hi"), REPEATABLE)).isDone).toBe(true);
});

test("opening hundreds of messages leaves other requests their turn", async () => {
	const messages = client.sealed(Array.from({ length: 300 }, () => ({ role: "user", content: "a" })));
	let isAnswered = false;
	const long = client.post({ messages, max_completion_tokens: 1 }).then(async (response) => {
		isAnswered = true;
		await response.body?.cancel();
		return response.status;
	});
	let answers = 0;
	while (!isAnswered && answers < 3) {
		await client.signature((await client.ask(user("hi"), { temperature: 0, max_completion_tokens: 1 })).id);
		answers++;
	}
	// Too long for the context: it is told after all were opened.
	expect([200, 400]).toContain(await long);
	expect(answers).toBeGreaterThan(0);
});

test("the key stays when the engine starts anew", async () => {
	await until(async () => (await engine.engine.rssBytes()) !== null, "the engine");
	process.kill(engine.engine.pid ?? 0, "SIGKILL");
	await until(async () => engine.engine.pid === null, "its end");
	const again = await SealedClient.of(`${gate.url}/api/v1`, gate.key, MODEL);
	expect(again.attestation.signing_key).toBe(client.attestation.signing_key);
	expect((await client.ask(user("hi"), REPEATABLE)).isDone).toBe(true);
});
