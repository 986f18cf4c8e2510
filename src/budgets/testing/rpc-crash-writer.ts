/**
 * A process to be killed: it answers requests with idempotency keys and sends as fast as it can, and prints what is
 * durable: `key N` (the answer of request N went out), `unknown N`, `send N`.
 */
import { writeSync } from "node:fs";
import type { Durability } from "../../journal/records.ts";
import { bodyOf, createRequestId, fingerprintOf, RpcNode } from "./rpc-node.ts";

const [dataDir = "", hash = "", first = "0", durability = "process", postgres = ""] = process.argv.slice(2);
const books = { dir: dataDir, postgres: postgres === "" ? undefined : postgres };
const node = await RpcNode.open(books, { durability: durability as Durability });
const caller = await node.caller(hash);
writeSync(1, "ready\n");

async function request(number: number): Promise<void> {
	const requestId = createRequestId();
	const ticket = await node.fresh(caller, `k${number}`, fingerprintOf(`${number}`));
	await node.sends.begin([
		{
			caller,
			requestId,
			item: 0,
			network: "base-mainnet",
			method: "eth_sendRawTransaction",
			rawHash: `0x${number}`,
			txHash: null,
		},
	]);
	writeSync(1, `send ${number}\n`);
	if (number % 7 === 3) {
		await ticket.keepUnknown(`${number}`);
		writeSync(1, `unknown ${number}\n`);
		return;
	}
	node.sends.end(requestId, 0, "accepted", `0x${number}`);
	const hold = await node.hold(caller, 20, requestId);
	const kept = await ticket.prepare({ status: 200, body: bodyOf(number), note: requestId });
	await node.post(hold, kept);
	writeSync(1, `key ${number}\n`);
}

for (let number = Number(first); ; ) {
	await Promise.all(Array.from({ length: 1 + (number % 5) }, () => request(number++)));
}
