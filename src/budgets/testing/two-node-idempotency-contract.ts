/** Idempotency keys of two nodes that share a store. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { until } from "../../../test/support/until.ts";
import type { StoreFolder } from "../../store/testing/store-folder.ts";
import type { IdempotencyClaim } from "../port.ts";
import { createTestKey, fingerprintOf, type RpcNode, ticketOf } from "./rpc-node.ts";

export interface SharedBooks {
	readonly books: StoreFolder;
	/** Opens another node. */
	open(): Promise<RpcNode>;
	close(): Promise<void>;
}

const A = fingerprintOf("a");
const B = fingerprintOf("b");

/** Defines the tests; each gets its own books. */
export function testTwoNodeIdempotency(create: () => Promise<SharedBooks>): void {
	describe("two nodes of one store", () => {
		let place: SharedBooks;
		const nodes: RpcNode[] = [];

		beforeEach(async () => {
			place = await create();
		});

		afterEach(async () => {
			for (const node of nodes.splice(0)) await node.close().catch(() => {});
			await place.close();
		});

		async function open(): Promise<RpcNode> {
			const node = await place.open();
			nodes.push(node);
			return node;
		}

		test("the same key on both at once is one's to run, and the other gives its answer, large ones too", async () => {
			const { hash } = await createTestKey(place.books);
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
				let replay = { kind: "running" } as IdempotencyClaim;
				// Until the answer is applied, its key is one of a running request.
				await until(async () => {
					replay = await both[other].idempotency.claim(callers[other], key, A);
					return replay.kind !== "running";
				}, "the answer on the other node");
				expect(replay).toMatchObject({ kind: "replay", answer: { status: 200, note: "n" } });
				expect((replay as Extract<IdempotencyClaim, { kind: "replay" }>).answer.body).toEqual(body);
			}
			expect((await place.books.audit()).findings).toEqual([]);
		});

		test("a released key is free on the other; so is that of a node that stopped", async () => {
			const { hash } = await createTestKey(place.books);
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
	});
}
