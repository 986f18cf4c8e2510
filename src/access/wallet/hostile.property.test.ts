import { expect, test } from "bun:test";
import fc from "fast-check";
import { createSignIn, createSolanaWallet, createWallet, encode, evmHeader, outcome, solanaHeader } from "./testing/sign-ins.ts";

const RUNS = { numRuns: 300 };
const wallet = createWallet();
const solana = createSolanaWallet();
const EVM = await evmHeader(wallet);
const SOLANA = solanaHeader(solana);
const REASON = /^[a-z]+(_[a-z]+)*$/;

/** What comes out is a refusal with a reason, never an identity and never a fault of ours. */
async function expectRefused(header: string): Promise<void> {
	const found = await outcome(createSignIn(), header);
	if (!REASON.test(found)) throw new Error(`${found}: ${header}`);
}

const parsed = (header: string) => JSON.parse(Buffer.from(header, "base64").toString("utf8")) as Record<string, unknown>;
const anything = fc.jsonValue({ maxDepth: 4 });
const names = fc.constantFrom(
	...["address", "message", "signature", "timestamp", "chainId", "type", "domain", "uri", "version", "nonce", "issuedAt"],
	...["expirationTime", "notBefore", "requestId", "resources", "statement", "__proto__", "constructor", "toString"],
);

test("any text that a header can hold is refused", async () => {
	await fc.assert(
		fc.asyncProperty(fc.stringMatching(/^[!-~][ -~]{0,400}[!-~]$/), (header) => expectRefused(header)),
		RUNS,
	);
});

test("any bytes and any JSON in base64 are refused", async () => {
	await fc.assert(
		fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 6_000 }), (bytes) =>
			expectRefused(Buffer.from(bytes).toString("base64")),
		),
		RUNS,
	);
	await fc.assert(
		fc.asyncProperty(anything, (value) => expectRefused(encode(value))),
		RUNS,
	);
	await fc.assert(
		fc.asyncProperty(fc.dictionary(names, anything), (value) => expectRefused(encode({ chainId: 8453, ...value }))),
		RUNS,
	);
});

test("a good header of which a member was replaced by anything is refused, or says the same", async () => {
	await fc.assert(
		fc.asyncProperty(fc.constantFrom(EVM, SOLANA), names, anything, async (good, name, value) => {
			const found = await outcome(createSignIn(), encode({ ...parsed(good), [name]: value }));
			const same = await outcome(createSignIn(), good);
			if (found !== same) expect(found).toMatch(REASON);
			else expect(["address", "message", "signature"].includes(name)).toBe(false);
		}),
		RUNS,
	);
});

test("a good header with one bit of the signed text or of the signature turned is refused", async () => {
	const place = fc.record({ field: fc.constantFrom("message", "signature"), at: fc.nat(), bit: fc.integer({ min: 0, max: 6 }) });
	await fc.assert(
		fc.asyncProperty(fc.constantFrom(EVM, SOLANA), place, async (good, { field, at, bit }) => {
			const payload = parsed(good);
			const bytes = Buffer.from(String(payload[field]));
			const index = at % bytes.length;
			bytes[index] = (bytes[index] ?? 0) ^ (1 << bit);
			const changed = bytes.toString("utf8");
			// Hex digits have two cases.
			const hex = good === EVM && field === "signature";
			if (hex && changed.toLowerCase() === String(payload[field]).toLowerCase()) return;
			await expectRefused(encode({ ...payload, [field]: changed }));
		}),
		RUNS,
	);
});

test("a wallet's header with another's address or chain is refused", async () => {
	const other = parsed(await evmHeader(createWallet()));
	await expectRefused(encode({ ...parsed(EVM), address: other.address }));
	await expectRefused(encode({ ...parsed(EVM), signature: other.signature }));
	await expectRefused(encode({ ...parsed(EVM), message: other.message, address: other.address }));
	await expectRefused(encode({ ...parsed(SOLANA), ...{ chainId: 8453, type: "eip191" } }));
	await expectRefused(encode({ ...parsed(EVM), ...{ chainId: parsed(SOLANA).chainId, type: "ed25519" } }));
});
