import { expect, test } from "bun:test";
import type { ClaimRequest, IdempotencyBatch, StoredClaim } from "../store/idempotency.ts";
import { StoreUnavailableError } from "../store/store-errors.ts";
import { ManualClock } from "../telemetry/clock.ts";
import { IdempotencyBatcher } from "./idempotency-batcher.ts";
import { ManualTimers } from "./testing/manual-timers.ts";
import { turns } from "./testing/test-node.ts";

/** A store whose calls end when the test decides. */
class Store {
	shared = true;
	readonly trips: IdempotencyBatch[] = [];
	readonly #ends: ((error: Error | null) => void)[] = [];

	idempotency(trip: IdempotencyBatch): Promise<readonly StoredClaim[]> {
		this.trips.push(trip);
		return new Promise((resolve, reject) => {
			this.#ends.push((error) => (error === null ? resolve(trip.claims.map(() => ({ kind: "fresh" }))) : reject(error)));
		});
	}

	async end(error: Error | null = null): Promise<void> {
		this.#ends.shift()?.(error);
		await turns();
	}
}

const claim = (key: string): ClaimRequest => ({ accountId: "a", key, fingerprint: "f", claim: `claim of ${key}` });
const keys = (requests: readonly { readonly key: string }[] = []) => requests.map(({ key }) => key);

function trips(shared = true) {
	const store = new Store();
	store.shared = shared;
	const timers = new ManualTimers();
	const clock = new ManualClock(5_000);
	return { store, timers, trips: new IdempotencyBatcher({ store, clock, timers, maxKeys: 10 }) };
}

test("claims of one turn share a trip, and those that come meanwhile the next one", async () => {
	const { store, trips: batcher } = trips();
	const first = ["a", "b", "c"].map((key) => batcher.claim(claim(key)));
	await turns();
	const later = ["d", "e"].map((key) => batcher.claim(claim(key)));
	batcher.release(claim("z"));
	await turns();
	expect(store.trips.map((trip) => keys(trip.claims))).toEqual([["a", "b", "c"]]);
	expect(store.trips[0]).toMatchObject({ nowMs: 5_000, maxKeys: 10, releases: [], drops: [] });
	await store.end();
	expect(await Promise.all(first)).toEqual([{ kind: "fresh" }, { kind: "fresh" }, { kind: "fresh" }]);
	expect(keys(store.trips[1]?.claims)).toEqual(["d", "e"]);
	expect(keys(store.trips[1]?.releases)).toEqual(["z"]);
	await store.end();
	await Promise.all(later);
	expect(store.trips.length).toBe(2);
});

test("a trip carries a bounded number of claims", async () => {
	const { store, trips: batcher } = trips();
	const asked = Array.from({ length: 40 }, (_, number) => batcher.claim(claim(`${number}`)));
	await turns();
	for (let trip = 0; trip < 3; trip++) await store.end();
	await Promise.all(asked);
	expect(store.trips.map((trip) => trip.claims.length)).toEqual([16, 16, 8]);
});

test("claims of a failed trip may stand in the store: they are released, again and again until the store has heard", async () => {
	const { store, timers, trips: batcher } = trips();
	batcher.release(claim("old"));
	const asked = batcher.claim(claim("a")).catch((error: Error) => error.name);
	await turns();
	await store.end(new StoreUnavailableError("away"));
	expect(await asked).toBe("StoreUnavailableError");
	expect(store.trips.length).toBe(1);
	await timers.fire();
	expect([keys(store.trips[1]?.releases), keys(store.trips[1]?.claims)]).toEqual([["old", "a"], []]);
	await store.end(new StoreUnavailableError("away"));
	const again = batcher.claim(claim("a"));
	await turns();
	// Releases go before claims, in the same call.
	expect([keys(store.trips[2]?.releases), keys(store.trips[2]?.claims)]).toEqual([["old", "a"], ["a"]]);
	await store.end();
	expect(await again).toEqual({ kind: "fresh" });
	await timers.fire();
	expect(store.trips.length).toBe(3);
});

test("a store of one node is not told who runs; a damaged answer goes with the next claim", async () => {
	const { store, trips: batcher } = trips(false);
	batcher.release(claim("a"));
	batcher.drop({ accountId: "a", key: "bad" });
	await turns();
	expect(store.trips.length).toBe(0);
	const asked = batcher.claim(claim("b"));
	await turns();
	expect(keys(store.trips[0]?.drops)).toEqual(["bad"]);
	await store.end();
	await asked;
});

test("a node that stops leaves nobody waiting", async () => {
	const { store, trips: batcher } = trips();
	const first = batcher.claim(claim("a"));
	await turns();
	const second = batcher.claim(claim("b")).catch((error: Error) => error.message);
	batcher.close();
	expect(await second).toBe("this node is stopping");
	await store.end();
	await first;
});
