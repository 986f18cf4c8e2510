import { expect, test } from "bun:test";
import { StoreFolder } from "../store/testing/store-folder.ts";
import { WorkerChannels } from "../store/testing/worker-channels.ts";
import { answerOf, createTestKey, fingerprintOf, RpcNode } from "./testing/rpc-node.ts";
import { testTwoNodeIdempotency } from "./testing/two-node-idempotency-contract.ts";

testTwoNodeIdempotency(async () => {
	const books = new StoreFolder();
	const stores = await WorkerChannels.open(books.dir, 2);
	let opened = 0;
	return {
		books,
		open: async () => RpcNode.of(books.dir, await stores.connect(opened++)),
		close: async () => {
			await stores.close();
			await books.remove();
		},
	};
});

test("a worker that is killed frees its keys, and what it posted before is the answer", async () => {
	const books = new StoreFolder();
	const stores = await WorkerChannels.open(books.dir, 2);
	const [first, second] = [RpcNode.of(books.dir, await stores.connect(0)), RpcNode.of(books.dir, await stores.connect(1))];
	const { hash } = await createTestKey(books);
	const [caller, other] = [await first.caller(hash), await second.caller(hash)];
	const fingerprint = fingerprintOf("a");
	await first.fresh(caller, "running", fingerprint);
	await first.answer(caller, await first.fresh(caller, "answered", fingerprint), answerOf("before the kill"));
	await stores.kill(0);
	expect((await second.idempotency.claim(other, "running", fingerprint)).kind).toBe("fresh");
	const replay = await second.idempotency.claim(other, "answered", fingerprint);
	expect(replay.kind === "replay" && Buffer.from(replay.answer.body).toString()).toBe("before the kill");
	await second.close();
	await stores.close();
	expect((await books.audit()).findings).toEqual([]);
	await books.remove();
});
