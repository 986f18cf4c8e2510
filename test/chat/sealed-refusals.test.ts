/** What a sealed conversation cannot have, as docs/sealed-chat.md lists it. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { AttestingUpstream } from "../support/attesting-upstream.ts";
import type { RunningGateway } from "../support/running-gateway.ts";
import type { SealedClient } from "../support/sealed-client.ts";
import { createKeys } from "../support/sealed-crypto.ts";
import { refusal, type SealedGateway, startSealedGateway, user } from "../support/sealed-gateway.ts";

let fixture: SealedGateway;
let one: AttestingUpstream;
let gate: RunningGateway;
let client: SealedClient;

beforeAll(async () => {
	fixture = await startSealedGateway();
	({ one, gate, client } = fixture);
});
afterEach(() => fixture.reset());
afterAll(async () => {
	expect(await fixture.stop()).toEqual({ holdsOpen: 0, findings: [] });
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
		const repaired = await fixture.clientOf("e2ee-repaired");
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
		for (const model of ["tee-only", "tee-claims", "claims", "half-claims", "provided-claims"]) {
			const [status, param] = await refusal(await client.post({ model, messages: user(client.seal("x")) }));
			expect([model, status, param]).toEqual([model, 400, "model"]);
		}
	});

	test("for a key that no server of the model has", async () => {
		const headers = { ...client.headers, "X-Service-TEE-Model-Pub-Key": createKeys().publicKey };
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
