/** Random histories of keys on a real store, compared with a model that states each rule in one line. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { StoreFolder } from "../store/testing/store-folder.ts";
import type { Caller } from "./caller.ts";
import type { IdempotencyTicket } from "./port.ts";
import { answerOf, createTestKey, fingerprintOf, RpcNode } from "./testing/rpc-node.ts";

const HOUR_MS = 3_600_000;
const KEYS = 4;
const MAX_KEYS = 3;

interface Known {
	readonly fingerprint: string;
	/** null: the outcome is unknown. */
	readonly body: string | null;
	readonly expiresAt: number;
}

const claims = fc.record({ do: fc.constant("claim" as const), key: fc.nat(KEYS - 1), body: fc.nat(1) });
const ends = fc.record({
	do: fc.constant("end" as const),
	how: fc.constantFrom("answer", "unknown", "release"),
	pick: fc.nat(9),
});
const waits = fc.record({ do: fc.constant("wait" as const), hours: fc.nat(20) });
const others = fc.record({ do: fc.constantFrom("sweep" as const, "restart" as const) });
const steps = fc.array(
	fc.oneof(
		{ weight: 8, arbitrary: claims },
		{ weight: 4, arbitrary: ends },
		{ weight: 2, arbitrary: waits },
		{ weight: 1, arbitrary: others },
	),
	{ minLength: 10, maxLength: 60 },
);

let books: StoreFolder;
let node: RpcNode;

beforeAll(async () => {
	books = new StoreFolder();
	node = await RpcNode.open(books, { maxKeys: MAX_KEYS });
});

afterAll(async () => {
	await node.close();
	await books.remove();
});

test("whatever comes in which order, a key gives what was kept under it, and one request runs at a time", async () => {
	await fc.assert(
		fc.asyncProperty(steps, async (history) => {
			const { hash } = await createTestKey(books);
			const known = new Map<string, Known>();
			const running = new Map<string, { readonly fingerprint: string; readonly ticket: IdempotencyTicket }>();
			let serial = 0;
			const caller = (): Promise<Caller> => node.caller(hash);
			const live = (key: string): Known | undefined => {
				const found = known.get(key);
				return found !== undefined && found.expiresAt > node.clock.wallMs() ? found : undefined;
			};
			/** Keys count until the hour in which they expire is over. */
			const counted = () =>
				[...known.values()].filter(
					({ expiresAt }) => Math.floor(expiresAt / HOUR_MS) >= Math.floor(node.clock.wallMs() / HOUR_MS),
				).length;
			const expected = (key: string, fingerprint: string): string => {
				const runs = running.get(key);
				if (runs !== undefined) return runs.fingerprint === fingerprint ? "running" : "reused";
				const found = live(key);
				if (found === undefined) return counted() >= MAX_KEYS ? "full" : "fresh";
				if (found.fingerprint !== fingerprint) return "reused";
				return found.body === null ? "unknown" : "replay";
			};
			const claim = async (key: string, fingerprint: string): Promise<void> => {
				const should = expected(key, fingerprint);
				const got = await node.idempotency.claim(await caller(), key, fingerprint);
				expect(got.kind).toBe(should as typeof got.kind);
				if (got.kind === "replay") expect(Buffer.from(got.answer.body).toString()).toBe(live(key)?.body ?? "none");
				if (got.kind === "fresh" || got.kind === "unknown") running.set(key, { fingerprint, ticket: got.ticket });
			};
			const end = async (key: string, how: string): Promise<void> => {
				const { fingerprint, ticket } = running.get(key) ?? {};
				if (ticket === undefined || fingerprint === undefined) return;
				running.delete(key);
				const body = how === "answer" ? `answer ${++serial}` : null;
				if (how === "answer") await node.answer(await caller(), ticket, answerOf(body ?? ""), 1);
				else if (how === "unknown") await ticket.keepUnknown("hashes");
				ticket.release();
				if (how !== "release") known.set(key, { fingerprint, body, expiresAt: node.clock.wallMs() + 24 * HOUR_MS });
			};
			for (const step of history) {
				if (step.do === "claim") await claim(`k${step.key}`, fingerprintOf(`${step.body}`));
				else if (step.do === "wait") node.clock.advance(step.hours * HOUR_MS);
				else if (step.do === "end") {
					const key = [...running.keys()][step.pick % Math.max(1, running.size)];
					if (key !== undefined) await end(key, step.how);
				} else if (step.do === "sweep") {
					await node.sweep.sweep();
					for (const key of known.keys()) if (live(key) === undefined) known.delete(key);
				} else {
					const { clock } = node;
					await node.close();
					running.clear();
					node = await RpcNode.open(books, { maxKeys: MAX_KEYS, clock });
				}
			}
			for (const { ticket } of running.values()) ticket.release();
			expect(node.idempotency.running).toBe(0);
		}),
		{ numRuns: 40 },
	);
	expect((await books.audit()).findings).toEqual([]);
});
