/** A flood of refused bodies keeps nobody else waiting, fills no memory, and blocks the key that sends it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { ADMIN_KEY } from "../support/served.ts";
import { LONGEST_TURN_MS, startWatchedServer, type WatchedServer } from "../support/watched-server.ts";

let upstream: ScriptedUpstream;
let server: WatchedServer;

beforeAll(async () => {
	upstream = startScriptedUpstream();
	server = await startWatchedServer({
		config: {
			upstreams: { scripted: { url: upstream.url, discover: false } },
			models: {
				entries: { m: { type: "text", price: { input: 0, output: 0 }, upstreams: [{ upstream: "scripted", model: "m" }] } },
			},
		},
	});
});
afterAll(async () => {
	server.remove();
	await upstream.stop();
});

async function createKey(): Promise<string> {
	const ask = async (path: string, body: object) => {
		const answer = await fetch(`${server.served.url}/api/v1/admin/accounts${path}`, {
			method: "POST",
			headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
			body: JSON.stringify(body),
		});
		return ((await answer.json()) as { data: { id: string; apiKey: string } }).data;
	};
	const { id } = await ask("", { name: "flood" });
	return (await ask(`/${id}/keys`, { apiKeyType: "INFERENCE", description: "" })).apiKey;
}

test("60 sockets of wrong bodies at once", async () => {
	const [flooding, other] = [await createKey(), await createKey()];
	const wrong = `{"model":"m","messages":[{"role":"user","content":[${Array(120_000).fill(1).join(",")}]}]}`;
	const hello = { model: "m", messages: [{ role: "user", content: "hello" }] };
	expect((await server.served.chat(hello, { key: other })).status).toBe(200);
	const before = await server.look();
	const statuses: number[] = [];
	const flood = Array.from({ length: 60 }, async () => {
		for (let round = 0; round < 5; round++) {
			const answer = await fetch(`${server.served.url}/api/v1/chat/completions`, {
				method: "POST",
				headers: { authorization: `Bearer ${flooding}`, "content-type": "application/json" },
				body: wrong,
			});
			await answer.arrayBuffer();
			statuses.push(answer.status);
		}
	});
	const served: number[] = [];
	for (let index = 0; index < 20; index++) served.push((await server.served.chat(hello, { key: other })).status);
	await Promise.all(flood);
	const after = await server.look();
	expect(served).toEqual(Array(20).fill(200));
	expect(statuses.filter((status) => status !== 400 && status !== 429)).toEqual([]);
	// 20 failures block a key; what waited at that moment may be refused as well.
	const refused = statuses.filter((status) => status === 400).length;
	expect(refused).toBeGreaterThan(20);
	expect(refused).toBeLessThan(30);
	expect(after.longestTurnMs).toBeLessThan(LONGEST_TURN_MS);
	expect(after.rssBytes - before.rssBytes).toBeLessThan(400_000_000);
});
