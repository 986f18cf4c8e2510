import { expect, test } from "bun:test";
import { systemClock, systemTimers } from "../../telemetry/clock.ts";
import { BroadcastQueue } from "./broadcast-queue.ts";
import { PendingSettlements } from "./pending-settlements.ts";

test("sends of one key go one after the other, a failed one too, and those of another key beside them", async () => {
	const store = { shared: false, admin: () => Promise.reject(new Error("not asked")) } as never;
	const queue = new BroadcastQueue({ store, clock: systemClock, timers: systemTimers });
	const seen: string[] = [];
	const gate = Promise.withResolvers<void>();
	const first = queue.inTurn("a", async () => {
		seen.push("a1");
		await gate.promise;
		seen.push("a1 ends");
		throw new Error("no");
	});
	const second = queue.inTurn("a", async () => void seen.push("a2"));
	await queue.inTurn("b", async () => void seen.push("b"));
	expect(seen).toEqual(["a1", "b"]);
	gate.resolve();
	await expect(first).rejects.toThrow("no");
	await second;
	expect(seen).toEqual(["a1", "b", "a1 ends", "a2"]);
});

test("what was sent is remembered as long as the chain's node does", async () => {
	const known = new Set(["0x1"]);
	const pending = new PendingSettlements(async (transaction) => known.has(transaction));
	await pending.set("signature", "0x1");
	expect(await pending.get("signature")).toBe("0x1");
	known.clear();
	expect(await pending.get("signature")).toBeUndefined();
	known.add("0x1");
	expect(await pending.get("signature")).toBeUndefined();
});
