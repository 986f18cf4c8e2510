import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createKeys, open, seal } from "../../../../test/support/sealed-crypto.ts";
import { isSealedPacket, sealedPlainBytes } from "../../../wire/sealed-packet.ts";
import { openPacket, PacketSealer, PacketUnreadable } from "./packet-cipher.ts";

const ours = createKeys();
const theirs = createKeys();
const sealer = new PacketSealer(Buffer.from(ours.publicKey, "hex"));
const anyText = fc.string({ unit: "grapheme", maxLength: 200 });

const refuses = (packet: string, privateKey: Uint8Array = ours.privateKey) =>
	expect(() => openPacket(packet, privateKey)).toThrow(PacketUnreadable);

describe("a sealed text", () => {
	test("that a client seals is opened, whatever it says", () => {
		fc.assert(
			fc.property(anyText, (text) => openPacket(seal(text, ours.publicKey), ours.privateKey) === text),
			{ numRuns: 60 },
		);
	});

	test("that is sealed here is opened by the client", () => {
		const answers = new PacketSealer(Buffer.from(theirs.publicKey, "hex"));
		fc.assert(
			fc.property(anyText, (text) => open(answers.seal(text), theirs.privateKey) === text),
			{ numRuns: 60 },
		);
	});

	test("has the form and the size of a packet", () => {
		fc.assert(
			fc.property(anyText, (text) => {
				const packet = sealer.seal(text);
				expect(isSealedPacket(packet)).toBe(true);
				expect(sealedPlainBytes(packet.length)).toBe(Buffer.byteLength(text));
			}),
		);
		expect(sealer.seal("").length).toBe(186);
	});

	test("of the same words is never the same twice", () => {
		const packets = new Set(Array.from({ length: 2_000 }, () => sealer.seal("the same")));
		expect(packets.size).toBe(2_000);
		expect(new Set([...packets].map((packet) => packet.slice(130, 154))).size).toBe(2_000);
	});

	test("opens no more when any one of its bytes is another", () => {
		const packet = Buffer.from(seal("tamper with me", ours.publicKey), "hex");
		for (let at = 0; at < packet.length; at++) {
			const changed = Buffer.from(packet);
			changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
			refuses(changed.toString("hex"));
		}
	});

	test("opens no more with the nonce of another packet", () => {
		const [one, other] = [sealer.seal("one"), sealer.seal("other")];
		refuses(one.slice(0, 130) + other.slice(130, 154) + one.slice(154));
	});

	test("opens with no other key", () => {
		refuses(sealer.seal("for you alone"), theirs.privateKey);
	});

	test("opens no more when it is cut or longer", () => {
		const packet = sealer.seal("cut me");
		for (let digits = 0; digits < packet.length; digits += 7) refuses(packet.slice(0, digits));
		refuses(packet.slice(0, -2));
		refuses(`${packet}00`);
	});

	test("is refused where it is no hex, or its key is no point", () => {
		for (const text of ["", "hello", "zz".repeat(93), "04".repeat(93), "00".repeat(93), `04${"0".repeat(184)}`]) refuses(text);
	});

	test("that is no UTF-8 is refused", () => {
		refuses(seal(Uint8Array.of(0xff, 0xfe), ours.publicKey));
	});
});

test("a key that is no point of the curve seals nothing", () => {
	expect(() => new PacketSealer(Buffer.from(`04${"1".repeat(128)}`, "hex"))).toThrow();
});
