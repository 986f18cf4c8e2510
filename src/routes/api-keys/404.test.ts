import { afterAll, beforeAll, expect, test } from "bun:test";
import { type KeysGateway, startKeysGateway } from "../../../test/support/keys-gateway.ts";

let keys: KeysGateway;

beforeAll(async () => {
	keys = await startKeysGateway();
});
afterAll(() => keys.stop());

test("a key of another account is as unknown as one that never was, one that is gone, and what no id looks like", async () => {
	const foreign = await keys.gate.newKey({ key: { type: "ADMIN" } });
	const gone = await keys.create();
	await keys.gate.call("DELETE", `/api_keys?id=${gone.id}`);
	const bodies = new Set<string>();
	const ids = [
		foreign.id,
		gone.id,
		"5b0e6c1e-3f64-4f0e-9d0e-0a1b2c3d4e5f",
		"x",
		"..",
		"a".repeat(4_000),
		"' OR '1'='1",
		"\u0000",
		"ü😀",
		"generate_web3",
	];
	for (const id of ids) {
		const encoded = encodeURIComponent(id);
		// A path with a dot segment or a NUL is refused before it is looked at.
		const shown = id === ".." || id === "\u0000" ? [] : [keys.gate.call("GET", `/api_keys/${encoded}`)];
		for (const sent of [
			...shown,
			keys.gate.call("DELETE", `/api_keys?id=${encoded}`),
			keys.gate.call("PATCH", "/api_keys", { id, description: "mine" }),
		]) {
			const answer = await sent;
			expect(`${id.slice(0, 40)} ${answer.status}`).toBe(`${id.slice(0, 40)} 404`);
			bodies.add(await answer.text());
		}
	}
	expect([...bodies]).toEqual(['{"error":"There is no such key","code":"NOT_FOUND"}']);
	expect((await keys.as(foreign.secret, "GET", `/api_keys/${foreign.id}`)).status).toBe(200);
});

test.each(["/api_keys/", "/api_keys/rate_limits/", "/api_keys/rate_limits/log/x", "/api_keys/a/b", "/API_KEYS"])(
	"%s is no path",
	async (path) => {
		expect((await keys.gate.call("GET", path)).status).toBe(404);
	},
);
