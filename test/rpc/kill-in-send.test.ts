import { afterAll, beforeAll, expect, test } from "bun:test";
import { request } from "../support/rpc-gateway.ts";
import { type ScriptedChain, startScriptedChain } from "../support/scripted-chain.ts";
import { ADMIN_KEY, freePort, type Served, serve, temporaryFolder, turnpike } from "../support/served.ts";

const RAW = "0x02f86b0180843b9aca00843b9aca0082520894d8da6bf26964af9d7eed9e03e53415d37aa9604501";
const SEND = "eth_sendRawTransaction";

let chain: ScriptedChain;
let server: Served | null = null;

beforeAll(async () => {
	chain = await startScriptedChain();
});

afterAll(async () => {
	server?.remove();
	await chain.stop();
});

test("a send under way at a kill -9 is looked for on the chain before it is sent again, and stands in the audit", async () => {
	let taken: () => void = () => {};
	const sent = new Promise<void>((resolve) => {
		taken = resolve;
	});
	chain.always(({ items }) => {
		const [item] = items;
		if (item?.method === SEND) {
			taken();
			return { hang: true };
		}
		const hash = (item?.params as readonly unknown[] | undefined)?.[0];
		return { raw: JSON.stringify({ jsonrpc: "2.0", id: item?.id, result: { hash } }) };
	});
	const dataDir = temporaryFolder();
	const port = await freePort();
	const start = () => serve({ dataDir, port, env: { TURNPIKE_RPC_ETHEREUM_MAINNET: chain.url } });
	const send = () =>
		fetch(`http://127.0.0.1:${port}/api/v1/crypto/rpc/ethereum-mainnet`, {
			method: "POST",
			headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json", "idempotency-key": "once" },
			body: JSON.stringify(request(SEND, [RAW])),
		});
	const sends = () => chain.requests.filter(({ items }) => items[0]?.method === SEND).length;

	server = await start();
	const cut = send().catch(() => null);
	await sent;
	server.kill("SIGKILL");
	await server.exited;
	expect(await cut).toBeNull();
	expect(sends()).toBe(1);

	server = await start();
	const audit = await turnpike(["rpc", "sends", "--data", dataDir, "--json"]);
	const rows = JSON.parse(audit.stdout) as { txHash: string; outcome: string | null }[];
	expect(rows).toEqual([expect.objectContaining({ outcome: null, method: SEND, network: "ethereum-mainnet" })]);
	const answer = await send();
	expect([answer.status, await answer.json()]).toEqual([200, { jsonrpc: "2.0", id: 1, result: rows[0]?.txHash }]);
	expect(sends()).toBe(1);
	const replay = await send();
	expect(replay.headers.get("idempotent-replayed")).toBe("true");
});
