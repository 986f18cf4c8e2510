import { expect, test } from "bun:test";
import { Deadlines } from "./deadlines.ts";

test("a deadline that is not removed expires once, a removed one never", async () => {
	const deadlines = new Deadlines(5);
	const expired: string[] = [];
	const removed = deadlines.add(10, () => expired.push("removed"));
	const last = Promise.withResolvers<void>();
	deadlines.add(10, () => expired.push("first"));
	deadlines.add(40, () => {
		expired.push("last");
		last.resolve();
	});
	deadlines.remove(removed);
	await last.promise;
	expect(expired).toEqual(["first", "last"]);
});

test("works again after it has been idle", async () => {
	const deadlines = new Deadlines(1);
	let expired = 0;
	const expire = (resolve: () => void) => () => {
		expired++;
		resolve();
	};
	await new Promise<void>((resolve) => deadlines.add(1, expire(resolve)));
	const idle = Promise.withResolvers<void>();
	setTimeout(idle.resolve, 50);
	await idle.promise;
	await new Promise<void>((resolve) => deadlines.add(1, expire(resolve)));
	expect(expired).toBe(2);
});
