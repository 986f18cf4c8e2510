/** Sealed conversations with servers that attest, as docs/sealed-chat.md says them: over the whole gateway. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { type AttestingUpstream, PIECES, startAttestingUpstream, USAGE } from "../support/attesting-upstream.ts";
import { type ErrorBody, pricedModel, priceOf } from "../support/chat-bodies.ts";
import { type GatewayOptions, type RunningGateway, startGateway, until, upstreamEntry } from "../support/running-gateway.ts";
import { type Message, SealedClient } from "../support/sealed-client.ts";
import { newKeys, seal } from "../support/sealed-crypto.ts";

const CAPABLE = { capabilities: { supportsE2EE: true } };
const SECRET = "the plans of the submarine";
const user = (content: unknown): Message[] => [{ role: "user", content }];
const nonce = () => randomBytes(32).toString("hex");

let one: AttestingUpstream;
let two: AttestingUpstream;
let options: GatewayOptions;
let gate: RunningGateway;
let client: SealedClient;

beforeAll(async () => {
	[one, two] = [startAttestingUpstream(), startAttestingUpstream()];
	const health = { failures: 1_000, probeEveryMs: 60_000 };
	const attestation = {
		report: "attestation/report",
		signature: "signature/{id}",
		sealed: true,
		clientKeyHeader: "x-client-pub-key",
		modelKeyHeader: "x-model-pub-key",
		algorithmHeader: "x-signing-algo",
	};
	options = {
		config: {
			chat: { systemPrompt: "You speak for the service." },
			upstreams: {
				one: upstreamEntry(one.url, { attestation, health }),
				two: upstreamEntry(two.url, { attestation, health }),
				open: upstreamEntry(two.url, { attestation: { ...attestation, sealed: false }, health }),
				plain: upstreamEntry(two.url, { health }),
			},
			limits: { failedRequests: 0 },
			models: {
				entries: {
					"e2ee-one": pricedModel(["one"], CAPABLE),
					"e2ee-two": pricedModel(["one", "two"], CAPABLE),
					"e2ee-repaired": pricedModel(["one"], { ...CAPABLE, responseFormat: "repair", thinkBlocks: "inline" }),
					"tee-only": pricedModel(["open"], { capabilities: { supportsTeeAttestation: true } }),
					"tee-claims": pricedModel(["open"], CAPABLE),
					"half-claims": pricedModel(["one", "plain"], CAPABLE),
					claims: pricedModel(["plain"], CAPABLE),
				},
			},
		},
	};
	gate = await startGateway(options);
	client = await SealedClient.of(`${gate.url}/api/v1`, gate.key, "e2ee-one");
});
afterEach(() => {
	one.behave({});
	two.behave({});
});
afterAll(async () => {
	expect(gate.gateway.budgets.holdsOpen).toBe(0);
	expect((await gate.audit()).findings).toEqual([]);
	await gate.stop();
	await Promise.all([one.stop(), two.stop()]);
});

const clientOf = (model: string) => SealedClient.of(`${gate.url}/api/v1`, gate.key, model);
const lastPost = async () => (await gate.posts()).at(-1);
async function refusal(response: Response): Promise<[number, string, string]> {
	const body = (await response.json()) as ErrorBody;
	return [response.status, body.error.param ?? "", body.error.message];
}

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
		expect(told.packets).toEqual(one.said);
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
		one.behave({ cutAfter: 3 });
		const response = await client.post({ messages: client.sealed(user("x".repeat(30))) });
		expect(await response.text()).toContain('"error"');
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
		const first = await clientOf("e2ee-two");
		expect(first.attestation.signing_key).toBe(one.keys.publicKey);
		one.behave({ reportStatus: 500 });
		const second = await clientOf("e2ee-two");
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
		const gateway = await startGateway(options);
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
		const repaired = await clientOf("e2ee-repaired");
		const told = await repaired.ask(user("see https://example.com"), { service_parameters: options });
		expect(told.text).toBe(PIECES.join(""));
		expect(told.packets).toEqual(one.said);
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

describe("a sealed conversation is refused with 400", () => {
	const sealedText = () => client.seal("x");
	const cases: readonly (readonly [string, () => object, string, string])[] = [
		["without a stream", () => ({ stream: false }), "stream", "must be true"],
		["where no stream is asked for", () => ({ stream: undefined }), "stream", "must be true"],
		["for a user's plain text", () => ({ messages: user("hello") }), "messages[0].content", "must be sealed"],
		[
			"for a system's plain text",
			() => ({ messages: [{ role: "system", content: "x" }, ...user(sealedText())] }),
			"messages[0].content",
			"must be sealed",
		],
		[
			"for a packet that is too short",
			() => ({ messages: user(sealedText().slice(0, 184)) }),
			"messages[0].content",
			"must be sealed",
		],
		["for half a byte", () => ({ messages: user(`${sealedText()}0`) }), "messages[0].content", "must be sealed"],
		["for what is no hex", () => ({ messages: user(`${sealedText()}zz`) }), "messages[0].content", "must be sealed"],
		["for parts", () => ({ messages: user([{ type: "text", text: sealedText() }]) }), "messages[0].content", "one text"],
		[
			"for a file",
			() => ({ messages: user([{ type: "file", file: { file_data: "data:text/plain;base64,AAAA", filename: "a.txt" } }]) }),
			"messages[0].content",
			"one text",
		],
		["for tools", () => ({ tools: [{ type: "function", function: { name: "f" } }] }), "tools", "no tools"],
		["for logprobs", () => ({ logprobs: true }), "logprobs", "no tokens"],
		[
			"for a character",
			() => ({ service_parameters: { character_slug: "anybody" } }),
			"service_parameters.character_slug",
			"no character",
		],
	];
	for (const [what, body, param, text] of cases)
		test(what, async () => {
			const heard = one.heard.length;
			const [status, at, message] = await refusal(await client.post({ messages: user(sealedText()), ...body() }));
			expect([status, at]).toEqual([400, param]);
			expect(message).toContain(text);
			expect(one.heard.length).toBe(heard);
		});

	test("for a format that somebody would have to check", async () => {
		const repaired = await clientOf("e2ee-repaired");
		const body = { messages: repaired.sealed(user("x")), response_format: { type: "json_object" } };
		expect((await refusal(await repaired.post(body))).slice(0, 2)).toEqual([400, "response_format"]);
		expect((await client.ask(user("x"), { response_format: { type: "json_object" } })).isDone).toBe(true);
	});

	const headerCases: readonly (readonly [string, (all: Record<string, string>) => Record<string, string>])[] = [
		["without the client's key", ({ "X-Service-TEE-Client-Pub-Key": _, ...rest }) => rest],
		["without the model's key", ({ "X-Service-TEE-Model-Pub-Key": _, ...rest }) => rest],
		["without the algorithm", ({ "X-Service-TEE-Signing-Algo": _, ...rest }) => rest],
		["for another algorithm", (all) => ({ ...all, "X-Service-TEE-Signing-Algo": "ed25519" })],
		["for a client's key without 04", (all) => ({ ...all, "X-Service-TEE-Client-Pub-Key": client.keys.publicKey.slice(2) })],
		["for a compressed client's key", (all) => ({ ...all, "X-Service-TEE-Client-Pub-Key": `02${"a".repeat(64)}` })],
		["for a client's key that is no hex", (all) => ({ ...all, "X-Service-TEE-Client-Pub-Key": `04${"g".repeat(128)}` })],
		["for a model's key of another length", (all) => ({ ...all, "X-Service-TEE-Model-Pub-Key": "04ab" })],
	];
	for (const [what, change] of headerCases)
		test(what, async () => {
			const response = await client.post({ messages: user(client.seal("x")) }, { headers: change(client.headers) });
			expect((await refusal(response))[0]).toBe(400);
		});

	test("on models that take none, whatever their entry claims", async () => {
		for (const model of ["tee-only", "tee-claims", "claims", "half-claims"]) {
			const [status, param] = await refusal(await client.post({ model, messages: user(client.seal("x")) }));
			expect([model, status, param]).toEqual([model, 400, "model"]);
		}
	});

	test("for a key that no server of the model has", async () => {
		const headers = { ...client.headers, "X-Service-TEE-Model-Pub-Key": newKeys().publicKey };
		const response = await client.post({ model: "e2ee-two", messages: user(client.seal("x")) }, { headers });
		expect((await refusal(response))[2]).toContain("attestation anew");
	});

	test("where the server has the key no more", async () => {
		one.behave({ status: 421 });
		const [status, , message] = await refusal(await client.post({ messages: user(client.seal("x")) }));
		expect([status, message.includes("attestation anew")]).toEqual([400, true]);
	});

	test("where the server does not open it", async () => {
		one.behave({ status: 400 });
		expect((await client.post({ messages: user(client.seal("x")) })).status).toBe(400);
		expect((await gate.posts()).at(-1)?.price).not.toBe(undefined);
	});

	test("on other routes", async () => {
		const { headers } = client;
		expect((await gate.call("POST", "/responses", { model: "e2ee-one", input: "hi" })).status).toBe(400);
		const body = { model: "e2ee-one", max_tokens: 5, messages: user("hi") };
		expect((await gate.call("POST", "/messages", body, headers)).status).toBe(400);
		expect((await gate.call("POST", "/messages", body)).status).toBe(200);
	});
});

describe("GET /tee/attestation", () => {
	const ask = (query: Record<string, string>) => gate.call("GET", `/tee/attestation?${new URLSearchParams(query)}`);

	test("brings the server's report as it came, with what it lacks", async () => {
		const asked = nonce();
		const response = await ask({ model: "e2ee-one", nonce: asked });
		expect(response.status).toBe(200);
		const text = await response.text();
		const theirs = one.reports.at(-1) ?? "";
		expect(text.startsWith(theirs.slice(0, -2))).toBe(true);
		expect(JSON.parse(text)).toEqual({
			...JSON.parse(theirs),
			verified: false,
			nonce: asked,
			model: "e2ee-one",
			tee_provider: "one",
		});
		expect(Object.fromEntries(one.reportQueries.at(-1) ?? [])).toEqual({
			model: "scripted",
			nonce: asked,
			signing_algo: "ecdsa",
		});
	});

	test("changes nothing of a report that lacks nothing", async () => {
		const asked = nonce();
		one.behave({ report: { verified: true, nonce: asked, model: "theirs", tee_provider: "demo" } });
		expect(await (await ask({ model: "e2ee-one", nonce: asked })).text()).toBe(one.reports.at(-1) ?? "");
	});

	test("takes short nonces where nothing is sealed", async () => {
		expect((await ask({ model: "tee-only", nonce: nonce().slice(32) })).status).toBe(200);
	});

	test("401 without a key", async () => {
		expect((await fetch(`${gate.url}/api/v1/tee/attestation?model=e2ee-one&nonce=${nonce()}`)).status).toBe(401);
	});

	test("400 for a bad nonce, no model, a model that proves nothing", async () => {
		for (const bad of ["", "ab", "g".repeat(64), nonce().slice(32), `${nonce()}00`])
			expect([bad, (await ask({ model: "e2ee-one", nonce: bad })).status]).toEqual([bad, 400]);
		expect((await ask({ model: "e2ee-one" })).status).toBe(400);
		expect((await ask({ nonce: nonce() })).status).toBe(400);
		expect((await ask({ model: "claims", nonce: nonce() })).status).toBe(400);
	});

	test("404 for an unknown model", async () => {
		const response = await ask({ model: "nobody", nonce: nonce() });
		expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([404, "MODEL_NOT_FOUND"]);
	});

	test("502 where the server refuses, or answers another nonce", async () => {
		for (const behaviour of [{ reportStatus: 400 }, { reportStatus: 500 }, { report: { request_nonce: nonce() } }]) {
			one.behave(behaviour);
			const response = await ask({ model: "e2ee-one", nonce: nonce() });
			expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([502, "TEE_ATTESTATION_FAILED"]);
		}
	});
});

describe("GET /tee/signature", () => {
	test("brings the server's signature as it came", async () => {
		const { id } = await client.ask(user("sign this"));
		const response = await client.signature(id);
		expect([response.status, await response.text()]).toEqual([200, one.signatures.at(-1) ?? ""]);
	});

	test("asks the server that answered", async () => {
		const both = await clientOf("e2ee-two");
		two.behave({ signatureStatus: 500 });
		const { id } = await both.ask(user("sign this"));
		expect((await both.signature(id)).status).toBe(200);
	});

	test("400 without an id, 404 for an unknown one, 502 where the server fails", async () => {
		expect((await gate.call("GET", "/tee/signature?model=e2ee-one")).status).toBe(400);
		expect((await client.signature("chatcmpl-nobody")).status).toBe(404);
		one.behave({ signatureStatus: 500 });
		const response = await client.signature("chatcmpl-nobody");
		expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([502, "TEE_SIGNATURE_FAILED"]);
	});
});

test("the catalog says of each model what is so", async () => {
	const { data } = (await (await gate.call("GET", "/models")).json()) as {
		data: { id: string; model_spec: { capabilities: Record<string, boolean> } }[];
	};
	const shown = Object.fromEntries(
		data.map(({ id, model_spec: { capabilities } }) => [id, [capabilities.supportsTeeAttestation, capabilities.supportsE2EE]]),
	);
	expect(shown).toMatchObject({
		"e2ee-one": [true, true],
		"e2ee-two": [true, true],
		"tee-only": [true, false],
		"tee-claims": [true, false],
		claims: [false, false],
		"half-claims": [false, false],
		"smollm2-135m-instruct": [false, false],
	});
});
