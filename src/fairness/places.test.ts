import { expect, test } from "bun:test";
import { type CallerKind, Places } from "./index.ts";

/** Takes one after the other until it is refused. */
function takeAll(places: Places, tenant: string, kind: CallerKind): number {
	let taken = 0;
	while (places.take(tenant, kind) === "taken") taken++;
	return taken;
}

test("any number of networks leaves room for accounts, those that are still looked up too", () => {
	const places = new Places(100);
	for (let network = 0; network < 500; network++) {
		places.take(`address:${network}`, "stranger");
		places.take(`address:${network}`, "unidentified");
	}
	expect(places.take("address:new", "stranger")).toBe("full");
	for (const account of ["acc_a", "acc_b", "acc_c"]) expect(places.take(account, "account")).toBe("taken");
});

test("within the crowd one network leaves room for others, and a place that is given back is free", () => {
	const places = new Places(100);
	expect(takeAll(places, "address:a", "stranger")).toBe(25);
	expect(places.usedBy("address:a", "stranger")).toBe(25);
	expect(places.take("address:a", "stranger")).toBe("share");
	expect(takeAll(places, "address:b", "stranger")).toBe(12);
	for (let count = 0; count < 25; count++) places.giveBack("address:a", "stranger");
	expect(takeAll(places, "address:a", "stranger")).toBe(19);
	expect(takeAll(places, "acc_a", "account")).toBeGreaterThan(20);
});

test("a service with one place serves everybody in turn", () => {
	const places = new Places(1);
	for (const kind of ["stranger", "unidentified", "account"] as const) {
		expect(places.take("x", kind)).toBe("taken");
		expect(places.take("y", "account")).toBe("full");
		places.giveBack("x", kind);
	}
});
