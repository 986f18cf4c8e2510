import { expect, test } from "bun:test";
import { networkTenant, PartyCapacity } from "./index.ts";

const network = (index: number) => networkTenant(`2001:db8:0:${index.toString(16)}::1`);

test("any number of networks without an account has half, also where each has one piece alone", () => {
	const capacity = new PartyCapacity(100);
	let taken = 0;
	for (let index = 0; index < 500; index++) if (capacity.take(network(index), 1) === "taken") taken++;
	expect(taken).toBe(50);
	expect(capacity.take(network(501), 1)).toBe("full");
	for (const account of ["acc_a", "acc_b"]) expect(capacity.take(account, 10)).toBe("taken");
});

test("the only pieces of networks, which may grow, stay within that half", () => {
	const capacity = new PartyCapacity(100);
	expect(capacity.take(network(1), 30)).toBe("taken");
	expect(capacity.take(network(1), 15, 30)).toBe("taken");
	expect(capacity.take(network(2), 6)).toBe("full");
	expect(capacity.take("acc_a", 40)).toBe("taken");
	capacity.giveBack(network(1), 45);
	expect([capacity.used, capacity.usedBy(network(1)), capacity.usedBy("acc_a")]).toEqual([40, 0, 40]);
});
