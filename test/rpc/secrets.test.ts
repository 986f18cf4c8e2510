/** What nodes say in errors about how they are reached stays with the operator. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RpcGateway, request, rpcUpstream, startRpcGateway } from "../support/rpc-gateway.ts";
import { type ScriptedChain, startScriptedChain } from "../support/scripted-chain.ts";

const KEY = "key-0123456789abcdef0123";
const QUERY_KEY = "pk9Zq77x";
const HEADER = "hdrS3cret";
const PASSWORD = "p4ss@w0rd9";
let chain: ScriptedChain;
let fixture: RpcGateway;

beforeAll(async () => {
	chain = await startScriptedChain();
	const url = `http://node:${encodeURIComponent(PASSWORD)}@127.0.0.1:${chain.port}/v2/${KEY}?key=${QUERY_KEY}`;
	const networks = { "ethereum-mainnet": { enabled: true, upstreams: [rpcUpstream(url, { headers: { "x-key": HEADER } })] } };
	fixture = await startRpcGateway({ config: { rpc: { networks } } });
});
afterAll(async () => {
	await fixture.stop();
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
		const answer = (await (await fixture.rpc(request("eth_gasPrice"))).json()) as { error: { code: number; message: string } };
		expect(answer.error.code).toBe(3);
		expect(answer.error.message.slice(more.length)).toBe("http://[secret]@[address]/v2/[secret] failed");
	}
});

test("a long answer without our secrets is kept whole under an idempotency key", async () => {
	const more = "a ".repeat(400_000);
	chain.next({
		stream: function* () {
			const id = chain.requests.at(-1)?.items[0]?.id;
			yield Buffer.from(`{"jsonrpc":"2.0","id":${id},"error":{"code":3,"message":"${more}${KEY} failed"}}`);
		},
	});
	const headers = { "Idempotency-Key": "a-long-answer" };
	const first = await (await fixture.rpc(request("eth_gasPrice"), { headers })).text();
	const again = await fixture.rpc(request("eth_gasPrice"), { headers });
	expect((await again.text()) === first).toBe(true);
	expect(first).toContain("a [secret] failed");
});

const BASIC = Buffer.from(`node:${PASSWORD}`).toString("base64");

test.each([
	["a short key of the query", QUERY_KEY, `it was ${QUERY_KEY} here`],
	["a short value of a header", HEADER, `it was ${HEADER} here`],
	["a password", PASSWORD, `it was ${PASSWORD} here`],
	["a password as the address has it", encodeURIComponent(PASSWORD), `it was ${encodeURIComponent(PASSWORD)} here`],
	["basic authentication", BASIC, `it was ${BASIC} here`],
	["an address at the beginning of a line", "10.0.0.7", "\\n10.0.0.7:8545"],
	["an address in another spelling", "10.0.0.7", "\\t10.0.0.7\\u003a8545"],
	["credentials in escapes", "bob:pw12", "http:\\u002f\\u002fbob:pw12\\u0040h.example"],
	["an address without brackets", "::1", "connect ECONNREFUSED ::1:8545"],
])("no error tells %s: alone, in a batch, with status 500, byte by byte", async (_, secret, said) => {
	const error = (id: unknown) => `{"jsonrpc":"2.0","id":${id},"error":{"code":3,"message":"${said}"}}`;
	const items = () => chain.requests.at(-1)?.items ?? [];
	const bytes = () => [...Buffer.from(error(items()[0]?.id))].map((byte) => Buffer.of(byte));
	const texts: string[] = [];
	const ask = async (...bodies: object[]) => {
		const answer = await fixture.rpc(bodies.length === 1 ? bodies[0] : bodies);
		texts.push(await answer.text());
	};
	chain.next({ stream: bytes });
	await ask(request("eth_gasPrice"));
	chain.next({ status: 500, stream: () => [Buffer.from(error(items()[0]?.id))] });
	await ask(request("eth_gasPrice"));
	chain.next({
		stream: () => [
			Buffer.from(
				`[${items()
					.map(({ id }) => error(id))
					.join(",")}]`,
			),
		],
	});
	await ask(request("eth_gasPrice"), request("eth_gasPrice", [], 2));
	for (const text of texts) {
		expect(text).toContain('"code":3');
		expect(text).toMatch(/\[(?:secret|address)\]/);
		expect(text).not.toContain(secret);
	}
});

test.each([
	["short", 0],
	["longer than what is gathered", 400_000],
])("a result that is %s has no key of ours in it, alone, in pieces and in a batch", async (_, length) => {
	const before = "0a".repeat(length / 2);
	for (const key of [KEY, KEY.replace("0", "\\u0030"), BASIC]) {
		const result = (id: unknown) => `{"jsonrpc":"2.0","id":${id},"result":["${before}","it is ${key} here"]}`;
		const items = () => chain.requests.at(-1)?.items ?? [];
		for (const size of [7, 100_000]) {
			chain.next({
				stream: function* () {
					const bytes = Buffer.from(result(items()[0]?.id));
					for (let at = 0; at < bytes.length; at += at < length ? 100_000 : size)
						yield bytes.subarray(at, at + (at < length ? 100_000 : size));
				},
			});
			const answer = (await (await fixture.rpc(request("eth_gasPrice"))).json()) as { result: string[] };
			expect(answer.result).toEqual([before, "it is [secret] here"]);
		}
		chain.next({
			stream: () => [
				Buffer.from(
					`[${items()
						.map(({ id }) => result(id))
						.join(",")}]`,
				),
			],
		});
		const [answer] = (await (await fixture.rpc([request("eth_gasPrice")])).json()) as { result: string[] }[];
		expect(answer?.result).toEqual([before, "it is [secret] here"]);
	}
});
