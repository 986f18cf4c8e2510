import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PostgresCluster, startPostgres } from "../../test/support/postgres-cluster.ts";
import { connect } from "../store/postgres/connect.ts";
import { reap } from "../store/postgres/epochs.ts";
import { StoreFolder } from "../store/testing/store-folder.ts";
import { testIdempotency } from "./testing/idempotency-contract.ts";
import { answerOf, createTestKey, fingerprintOf, RpcNode, type RpcNodeOptions } from "./testing/rpc-node.ts";
import { testTwoNodeIdempotency } from "./testing/two-node-idempotency-contract.ts";

let cluster: PostgresCluster;

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

testIdempotency(async () => new StoreFolder(await cluster.newDatabase()));

const A = fingerprintOf("a");

testTwoNodeIdempotency(async () => {
	const books = new StoreFolder(await cluster.newDatabase());
	const folders: string[] = [];
	return {
		books,
		open: () => {
			const dataDir = mkdtempSync(join(tmpdir(), "turnpike-node-"));
			folders.push(dataDir);
			return RpcNode.open(books, { dataDir });
		},
		close: async () => {
			for (const folder of folders) rmSync(folder, { recursive: true, force: true });
			await books.remove();
		},
	};
});

describe("with two nodes", () => {
	let books: StoreFolder;
	const nodes: RpcNode[] = [];
	const folders: string[] = [];

	beforeEach(async () => {
		books = new StoreFolder(await cluster.newDatabase());
	});

	afterEach(async () => {
		for (const node of nodes.splice(0)) await node.close().catch(() => {});
		for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
		await books.remove();
	});

	async function open(options: RpcNodeOptions & { readonly dataDir?: string } = {}): Promise<RpcNode> {
		const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), "turnpike-node-"));
		if (options.dataDir === undefined) folders.push(dataDir);
		const node = await RpcNode.open(books, { ...options, dataDir });
		nodes.push(node);
		return node;
	}

	test("a node that is reaped frees its keys; an answer that it posts late does not replace the one given meanwhile", async () => {
		const { hash } = await createTestKey(books);
		const first = await open();
		const second = await open();
		const caller = await first.caller(hash);
		const late = await first.fresh(caller, "k", A);
		const sql = connect(books.postgres ?? "", { max: 1, name: "test" });
		const other = await second.caller(hash);
		expect(await second.idempotency.claim(other, "k", A)).toEqual({ kind: "running" });
		const { id, epoch } = first.opened.store.node;
		await sql.unsafe("UPDATE node_terms SET ends_at = clock_timestamp() - interval '1 hour' WHERE node_id = $1 AND epoch = $2", [
			id,
			epoch,
		]);
		expect(await reap(sql, 1_000)).toBe(1);
		await sql.close();
		const ticket = await second.fresh(other, "k", A);
		await second.answer(other, ticket, answerOf("second"));
		await first.answer(caller, late, answerOf("first")).catch(() => {});
		const replay = await second.idempotency.claim(other, "k", A);
		expect(replay.kind === "replay" && Buffer.from(replay.answer.body).toString()).toBe("second");
	});

	test("the sweep of one takes large bodies out of the store", async () => {
		const { hash } = await createTestKey(books);
		const node = await open();
		const caller = await node.caller(hash);
		const body = new Uint8Array(2 << 20);
		await node.answer(caller, await node.fresh(caller, "k", A), { status: 200, body, note: "" });
		const { db } = books.admin();
		expect((await db.selectFrom("idempotency_bodies").select("part").execute()).length).toBe(2);
		node.clock.advance(25 * 3_600_000);
		await node.sweep.sweep();
		expect((await db.selectFrom("idempotency_answers").select("key").execute()).length).toBe(0);
		node.clock.advance(2 * 3_600_000);
		await node.sweep.sweep();
		expect((await db.selectFrom("idempotency_bodies").select("part").execute()).length).toBe(0);
	});
});
