/** A key that no answer is kept under is refused on every paid route, before its body is read. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ChatGateway, errorOf, startChatGateway } from "./chat-gateway.ts";

let fixture: ChatGateway;

beforeAll(async () => {
	fixture = await startChatGateway();
});
afterAll(() => fixture.stop());

interface ApiDocument {
	readonly paths: Readonly<Record<string, { readonly post?: { readonly parameters?: readonly { readonly name: string }[] } }>>;
}

/** Those that honour it say so in the API document; those that cost nothing do nothing twice that matters. */
const FREE = /^\/(api_keys|messages\/count_tokens|characters|audio\/voices|x402|admin)/;

test("every paid route honours an Idempotency-Key or refuses it by name", async () => {
	const { paths } = (await (await fixture.gate.call("GET", "/openapi.json")).json()) as ApiDocument;
	const paid = Object.entries(paths).filter(([path, { post }]) => post !== undefined && !FREE.test(path));
	expect(paid.length).toBeGreaterThan(10);
	for (const [path, { post }] of paid) {
		if (post?.parameters?.some(({ name }) => name.toLowerCase() === "idempotency-key")) continue;
		const answer = await fixture.gate.call("POST", path, {}, { "idempotency-key": "once" });
		expect([path, answer.status, (await errorOf(answer)).code]).toEqual([path, 400, "IDEMPOTENCY_KEY_INVALID"]);
	}
	expect(fixture.upstream.requests).toEqual([]);
});
