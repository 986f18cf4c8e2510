import { expect, test } from "bun:test";
import { hashMessage } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { nativeRecovery, portableRecovery, type Recovery, recoverSigner } from "./recover-signer.ts";

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const bytesOf = (hex: string) => Buffer.from(hex.slice(2), "hex");

/** The other signature that says the same: s on the other side of the order, the other key bit. */
function twin(signature: Buffer): Buffer {
	const s = ORDER - BigInt(`0x${signature.subarray(32, 64).toString("hex")}`);
	const v = (signature[64] ?? 0) === 27 ? 28 : 27;
	return Buffer.concat([signature.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, "0"), "hex"), Buffer.of(v)]);
}

test("the signer of a text is found, whatever is in the text, by v of 27 and 28 as of 0 and 1", async () => {
	for (const message of ["", "a", "ä€😀", "line\nline", "x".repeat(5_000)]) {
		const wallet = privateKeyToAccount(generatePrivateKey());
		const signature = bytesOf(await wallet.signMessage({ message }));
		expect(await recoverSigner(message, signature)).toBe(wallet.address.toLowerCase());
		signature[64] = (signature[64] ?? 0) - 27;
		expect(await recoverSigner(message, signature)).toBe(wallet.address.toLowerCase());
	}
});

test("the twin with the high s, other lengths and other values of v are no signatures", async () => {
	const wallet = privateKeyToAccount(generatePrivateKey());
	const signature = bytesOf(await wallet.signMessage({ message: "m" }));
	const recover = await portableRecovery();
	const key = recover(bytesOf(hashMessage("m")), twin(signature).subarray(0, 64), (twin(signature)[64] ?? 0) - 27);
	expect(Buffer.from(key)).toEqual(bytesOf(wallet.publicKey));
	expect(await recoverSigner("m", twin(signature))).toBeNull();
	expect(await recoverSigner("m", signature.subarray(0, 64))).toBeNull();
	expect(await recoverSigner("m", Buffer.concat([signature, Buffer.of(0)]))).toBeNull();
	for (const v of [2, 3, 26, 29, 30, 37, 255]) {
		expect(await recoverSigner("m", Buffer.concat([signature.subarray(0, 64), Buffer.of(v)]))).toBeNull();
	}
	for (const filler of [0, 0xff]) expect(await recoverSigner("m", Buffer.alloc(65, filler).fill(27, 64))).toBeNull();
});

const native = await nativeRecovery();

test.skipIf(native === null)("compiled and portable code find the same key, and fail on the same signatures", async () => {
	if (native === null) return;
	const portable = await portableRecovery();
	const outcome = (recover: Recovery, ...input: Parameters<Recovery>) => {
		try {
			return Buffer.from(recover(...input)).toString("hex");
		} catch {
			return "none";
		}
	};
	const outcomes = new Set<string>();
	for (let round = 0; round < 40; round++) {
		const hash = crypto.getRandomValues(new Uint8Array(32));
		const compact = crypto.getRandomValues(new Uint8Array(64));
		if (round % 8 === 0) compact.fill(round % 16 === 0 ? 0 : 0xff, 0, 32);
		for (const bit of [0, 1]) {
			const found = outcome(native, hash, compact, bit);
			expect(outcome(portable, hash, compact, bit)).toBe(found);
			outcomes.add(found);
		}
	}
	expect(outcomes.has("none")).toBe(true);
	expect(outcomes.size).toBeGreaterThan(10);
});
