import { expect, test } from "bun:test";
import { SharedCapacity } from "./index.ts";

/** Takes one after the other until it is refused. */
function takeAll(capacity: SharedCapacity, tenant: string): number {
	let taken = 0;
	while (capacity.take(tenant, 1) === "taken") taken++;
	return taken;
}

test("a tenant alone gets half, and each further one a part that leaves room for the next", () => {
	const capacity = new SharedCapacity(120);
	expect(takeAll(capacity, "a")).toBe(60);
	expect(takeAll(capacity, "b")).toBe(30);
	expect(takeAll(capacity, "c")).toBe(15);
	expect(capacity.take("d", 1)).toBe("taken");
	expect(capacity.take("a", 1)).toBe("share");
});

test("what is given back can be taken again, by whoever has less", () => {
	const capacity = new SharedCapacity(10);
	expect(takeAll(capacity, "a")).toBe(5);
	for (let index = 0; index < 5; index++) capacity.giveBack("a", 1);
	expect(capacity.used).toBe(0);
	expect(capacity.usedBy("a")).toBe(0);
	expect(takeAll(capacity, "b")).toBe(5);
});

test("the only piece of a tenant may grow as far as there is room, a second one may not", () => {
	const capacity = new SharedCapacity(100);
	expect(capacity.take("a", 40)).toBe("taken");
	expect(capacity.take("a", 40, 40)).toBe("taken");
	expect(capacity.take("a", 1)).toBe("share");
	expect(capacity.take("b", 21)).toBe("full");
	expect(capacity.take("b", 20)).toBe("taken");
});
