import { expect, test } from "bun:test";
import { SecretMask } from "./secret-mask.ts";

const KEY = "kk-kk-upstream/SECRET";
const mask = new SecretMask([KEY], []);

test("a secret is found in pieces of any size, also where it begins over and over or is escaped", () => {
	for (const [said, shown] of [
		[`a ${KEY} b`, "a [secret] b"],
		[`kk-kk-kk-${KEY}${KEY}kk-kk-`, "kk-kk-kk-[secret][secret]kk-kk-"],
		[KEY.replace("/", "\\/"), "[secret]"],
		[`\\\\${KEY.replace("S", "\\u0053")}\\`, "\\\\[secret]\\"],
		["kk-kk-upstream", "kk-kk-upstream"],
	] as const)
		for (let size = 1; size <= said.length; size++) {
			const pieces = mask.answerPieces();
			const told: Uint8Array[] = [];
			for (let at = 0; at < said.length; at += size)
				told.push(pieces?.take(Buffer.from(said.slice(at, at + size))) ?? new Uint8Array());
			told.push(pieces?.end() ?? new Uint8Array());
			expect(Buffer.concat(told).toString()).toBe(shown);
		}
});

test("a piece without a secret is the same object, and sound keeps its length", () => {
	const plain = Buffer.from([0xff, 0xfb, 0, 0x80]);
	expect(mask.answerPieces()?.take(plain)).toBe(plain);
	expect(new SecretMask([], []).answerPieces()).toBeNull();
	const pieces = mask.soundPieces();
	const told = [pieces?.take(Buffer.from(`\xff${KEY}`, "latin1")), pieces?.end()].map((piece) => piece ?? new Uint8Array());
	expect(Buffer.concat(told).toString("latin1")).toBe(`\xff${"*".repeat(KEY.length)}`);
});
