import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PostgresCluster, startPostgres } from "../../test/support/postgres-cluster.ts";
import { until } from "../../test/support/until.ts";
import { connect } from "../store/postgres/connect.ts";
import { reap } from "../store/postgres/epochs.ts";
import { StoreFolder } from "../store/testing/store-folder.ts";
import { testIdempotency } from "./testing/idempotency-contract.ts";
import { answerOf, fingerprintOf, newKey, RpcNode, type RpcNodeOptions, ticketOf } from "./testing/rpc-node.ts";

let cluster: PostgresCluster;

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

testIdempotency(async () => new StoreFolder(await cluster.newDatabase()));

const A = fingerprintOf("a");
const B = fingerprintOf("b");

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

	test("the same key on both at once is one's to run, and the other gives its answer, large ones too", async () => {
		const { hash } = await newKey(books);
		const both = [await open(), await open()] as const;
		const callers = [await both[0].caller(hash), await both[1].caller(hash)] as const;
		for (const [round, bytes] of [40, 3 << 20, 40, 300_000, 40].entries()) {
			const key = `k${round}`;
			const claims = await Promise.all(
				[0, 1, 0, 1].map((at) => both[at as 0 | 1].idempotency.claim(callers[at as 0 | 1], key, A)),
			);
			const kinds = claims.map((claim) => claim.kind);
			expect(kinds.toSorted()).toEqual(["fresh", "running", "running", "running"]);
			const at = (kinds.indexOf("fresh") % 2) as 0 | 1;
			const other = (1 - at) as 0 | 1;
			expect(await both[other].idempotency.claim(callers[other], key, B)).toEqual({ kind: "reused" });
			const body = new Uint8Array(bytes).map((_, index) => (index * 13) % 256);
			const first = claims[kinds.indexOf("fresh")];
			if (first !== undefined) await both[at].answer(callers[at], ticketOf(first), { status: 200, body, note: "n" });
			const replay = await both[other].idempotency.claim(callers[other], key, A);
			expect(replay.kind === "replay" && Buffer.from(replay.answer.body).equals(body)).toBe(true);
		}
		const { db } = books.admin();
		expect(await db.selectFrom("idempotency_running").selectAll().execute()).toEqual([]);
		expect((await books.audit()).findings).toEqual([]);
	});

	test("a released key is free on the other; so is that of a node that stopped", async () => {
		const { hash } = await newKey(books);
		const first = await open();
		const second = await open();
		const caller = await first.caller(hash);
		const other = await second.caller(hash);
		(await first.fresh(caller, "a", A)).release();
		await until(async () => (await second.idempotency.claim(other, "a", B)).kind === "fresh");
		await first.fresh(caller, "b", A);
		expect(await second.idempotency.claim(other, "b", A)).toEqual({ kind: "running" });
		nodes.splice(nodes.indexOf(first), 1);
		await first.close();
		expect((await second.idempotency.claim(other, "b", A)).kind).toBe("fresh");
	});

	test("a node that is reaped frees its keys; an answer that it posts late does not replace the one given meanwhile", async () => {
		const { hash } = await newKey(books);
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
		const { hash } = await newKey(books);
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
