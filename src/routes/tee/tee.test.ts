import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import type { AttestingUpstream } from "../../../test/support/attesting-upstream.ts";
import type { RunningGateway } from "../../../test/support/running-gateway.ts";
import type { SealedClient } from "../../../test/support/sealed-client.ts";
import { type SealedGateway, startSealedGateway, user } from "../../../test/support/sealed-gateway.ts";

const nonce = () => randomBytes(32).toString("hex");

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
		const both = await fixture.clientOf("e2ee-two");
		two.behave({ signatureStatus: 500 });
		const { id } = await both.ask(user("sign this"));
		expect((await both.signature(id)).status).toBe(200);
	});

	test("404 for another account's completion, and under another model's name", async () => {
		const { id } = await client.ask(user("sign this"));
		const other = await gate.newKey({ creditUsd: "1" });
		const asked = (model: string, key: string) =>
			gate.call("GET", `/tee/signature?model=${model}&request_id=${id}`, undefined, { authorization: `Bearer ${key}` });
		expect((await asked("e2ee-one", other.secret)).status).toBe(404);
		expect((await asked("e2ee-two", gate.key)).status).toBe(404);
		expect((await asked("e2ee-one", gate.key)).status).toBe(200);
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
		"provided-claims": [false, false],
		"smollm2-135m-instruct": [false, false],
	});
});
