/** What nodes say in errors about how they are reached stays with the operator. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RpcGateway, request, rpcUpstream, startRpcGateway } from "../support/rpc-gateway.ts";
import { type ScriptedChain, startScriptedChain } from "../support/scripted-chain.ts";

const KEY = "key-0123456789abcdef0123";
let chain: ScriptedChain;
let bed: RpcGateway;

beforeAll(async () => {
	chain = await startScriptedChain();
	const networks = { "ethereum-mainnet": { enabled: true, upstreams: [rpcUpstream(`${chain.url}/v2/${KEY}`)] } };
	bed = await startRpcGateway({ config: { rpc: { networks } } });
});
afterAll(async () => {
	await bed.stop();
	await chain.stop();
});

test.each([
	["short", ""],
	["longer than what is gathered", "a ".repeat(400_000)],
])("an error that is %s has no key, no password and no inner address in it", async (_, more) => {
	for (const key of [KEY, KEY.replace("0", "\\u0030")]) {
		const message = `${more}http://user:pass@10.0.0.1:8545/v2/${key} failed`;
		chain.next({
			stream: function* () {
				const id = chain.requests.at(-1)?.items[0]?.id;
				yield Buffer.from(`{"jsonrpc":"2.0","id":${id},"error":{"code":3,"message":"${message}"}}`);
			},
		});
		const answer = (await (await bed.rpc(request("eth_gasPrice"))).json()) as { error: { code: number; message: string } };
		expect(answer.error.code).toBe(3);
		expect(answer.error.message.slice(more.length)).toBe("http://[secret]@[address]/v2/[secret] failed");
	}
});
