import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../config/index.ts";
import { contractNode } from "./contract-node.ts";

const folders: string[] = [];
const nodes: { stop(): void }[] = [];
afterEach(() => {
	for (const node of nodes.splice(0)) node.stop();
	for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A node of Base; its headers of the last call are kept. */
function startNode() {
	const seen = { calls: 0, secret: null as string | null };
	const server = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		async fetch(request) {
			const { id } = (await request.json()) as { id: number };
			seen.calls++;
			seen.secret = request.headers.get("x-secret");
			return Response.json({ jsonrpc: "2.0", id, result: "0x2105" });
		},
	});
	nodes.push({ stop: () => void server.stop(true) });
	return Object.assign(seen, { url: `http://127.0.0.1:${server.port}` });
}

function configOf(yaml: string) {
	const folder = mkdtempSync(join(tmpdir(), "turnpike-node-"));
	folders.push(folder);
	writeFileSync(join(folder, "turnpike.yaml"), yaml);
	return loadConfig({}, {}, folder).config;
}

test("the node for smart wallets is its own setting, else the first upstream of Base, else the chain of stakes", async () => {
	const [own, first, second, staking] = [startNode(), startNode(), startNode(), startNode()];
	const rpc = `rpc: {networks: {base-mainnet: {upstreams: [{url: '${second.url}', order: 2}, {url: '${first.url}', order: 1, headers: {x-secret: s}}]}}}\n`;
	const stakes = `staking: {chain: {rpcUrl: '${staking.url}'}, contract: '0x${"1".repeat(40)}'}\n`;
	const ask = async (yaml: string) => {
		for (const node of [own, first, second, staking]) node.calls = 0;
		await contractNode(configOf(yaml))?.checkId();
		return [own, first, second, staking].map(({ calls }) => calls);
	};
	expect(await ask(`siwx: {rpcUrl: '${own.url}'}\n${rpc}${stakes}`)).toEqual([1, 0, 0, 0]);
	expect(await ask(rpc + stakes)).toEqual([0, 1, 0, 0]);
	expect(first.secret).toBe("s");
	expect(await ask(rpc.replace("{upstreams", "{enabled: false, upstreams") + stakes)).toEqual([0, 0, 0, 1]);
	expect(await ask(stakes)).toEqual([0, 0, 0, 1]);
});

test("without one, or where stakes are on another chain, there is no node", () => {
	expect(contractNode(configOf(""))).toBeNull();
	expect(
		contractNode(configOf(`staking: {chain: {id: 1, rpcUrl: 'http://localhost:1'}, contract: '0x${"1".repeat(40)}'}\n`)),
	).toBeNull();
});
