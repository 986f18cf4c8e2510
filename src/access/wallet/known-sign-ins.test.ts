import { expect, test } from "bun:test";
import { VerifiedSignIns } from "./verified-sign-ins.ts";

const known = (untilMs: number) => ({
	wallet: { identity: "", chain: "evm" as const, address: "", expiresAtMs: untilMs },
	nonce: "",
	knownUntilMs: untilMs,
	served: false,
});

test("a sign-in is known until its end, by the clock of that moment", () => {
	const all = new VerifiedSignIns();
	all.add("a", known(1_000));
	expect(all.find("a", 999)).not.toBeNull();
	expect(all.find("b", 0)).toBeNull();
	expect(all.find("a", 1_000)).toBeNull();
});

test("twenty thousand are known at most: the oldest is forgotten for a new one", () => {
	const all = new VerifiedSignIns();
	for (let index = 0; index <= 20_000; index++) all.add(`${index}`, known(1));
	expect(all.find("0", 0)).toBeNull();
	expect(all.find("1", 0)).not.toBeNull();
	expect(all.find("20000", 0)).not.toBeNull();
});
