import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RpcGateway, request, startRpcGateway } from "../support/rpc-gateway.ts";

let fixture: RpcGateway;
beforeAll(async () => {
	fixture = await startRpcGateway();
});
afterAll(() => fixture.stop());

async function scrape(headers: Record<string, string> = {}): Promise<Response> {
	return fetch(`${fixture.gate.url}/metrics`, { headers });
}

/** The value of a metric without labels, or with just these. */
function metricOf(text: string, name: string, labels = ""): number {
	const line = text.split("\n").find((candidate) => candidate.startsWith(`${name}${labels} `));
	return Number(line?.split(" ").at(-1) ?? Number.NaN);
}

test("tells this machine how the cache of chain calls fares, in the form of Prometheus", async () => {
	const before = await (await scrape()).text();
	await fixture.rpc([request("eth_chainId", [], 1), request("eth_chainId", [], 2)]);
	await fixture.rpc(request("eth_chainId"));
	const answer = await scrape();
	expect(answer.status).toBe(200);
	expect(answer.headers.get("content-type")).toContain("text/plain");
	const text = await answer.text();
	expect(text).toContain("# TYPE turnpike_rpc_cache_hits_total counter");
	const asked = (of: string) => metricOf(of, "turnpike_rpc_cache_hits_total") + metricOf(of, "turnpike_rpc_cache_misses_total");
	expect(asked(text)).toBeGreaterThan(asked(before));
	expect(metricOf(text, "turnpike_holds_open")).toBe(0);
	expect(metricOf(text, "turnpike_journal_written_seq")).toBeGreaterThan(0);
	expect(text).toMatch(/turnpike_rpc_upstream_up\{network="ethereum-mainnet",upstream="[^"]+"\} 1/);
});

test("with metrics.token only who has it may read", async () => {
	const guarded = await startRpcGateway({ config: { metrics: { token: "a-token-of-this-test" } } });
	try {
		const read = (headers: Record<string, string>) => fetch(`${guarded.gate.url}/metrics`, { headers });
		expect((await read({})).status).toBe(403);
		expect((await read({ authorization: "Bearer another-token-here" })).status).toBe(403);
		expect((await read({ authorization: "Bearer a-token-of-this-test" })).status).toBe(200);
		expect((await read({ authorization: "bearer a-token-of-this-test" })).status).toBe(200);
	} finally {
		await guarded.stop();
	}
});
