import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type Hex, serializeErc6492Signature } from "viem";
import { type StakingChain, startStakingChain } from "../../../test/support/staking-chain/index.ts";
import { until } from "../../../test/support/until.ts";
import { ApiError } from "../../errors/index.ts";
import { Chain } from "../evm/index.ts";
import { writeMessage } from "./sign-in-message.ts";
import { createSignIn, createWallet, encode, evmHeader, message, NOW, outcome, type Signer } from "./testing/sign-ins.ts";

let chain: StakingChain;
const owner = createWallet();

beforeAll(async () => {
	chain = await startStakingChain({ genesisSeconds: Math.floor(NOW / 1000) });
});
beforeEach(() => {
	chain.answer = null;
	chain.calls.clear();
});
afterAll(() => chain.stop());

const asked = () => [...chain.calls.values()].reduce((sum, count) => sum + count, 0);
const node = () => new Chain({ id: 8453, rpcUrl: chain.url, timeoutMs: 30_000 });

/** A header of a contract, signed by a key; `wrap` makes of the signature what is sent. */
async function contractHeader(address: string, key = owner, wrap = (signature: Hex): Hex => signature): Promise<string> {
	const text = writeMessage(message(address));
	const signature = wrap(await key.signMessage({ message: text }));
	return encode({ address, message: text, signature, chainId: 8453 });
}

async function future(): Promise<{ readonly address: string; readonly wrap: (signature: Hex) => Hex }> {
	const factory = await chain.deploy("WalletFactory", []);
	const address = `0x${(await chain.call(factory, "WalletFactory", "addressOf", [owner.address])).slice(-40)}`;
	const data = chain.encode("WalletFactory", "make", [owner.address]);
	return { address, wrap: (signature) => serializeErc6492Signature({ address: factory as Hex, data, signature }) };
}

test("a contract signs in by its owner, and not by anybody else", async () => {
	const made = await chain.deploy("SmartWallet", [owner.address]);
	const identity = `eip155:8453:${made.toLowerCase()}`;
	expect(await outcome(createSignIn({ chain: node() }), await contractHeader(made))).toBe(identity);
	expect(await outcome(createSignIn({ chain: node() }), await contractHeader(made, createWallet()))).toBe("signature_mismatch");
	expect(await outcome(createSignIn({ chain: null }), await contractHeader(made))).toBe("signature_mismatch");
});

test("a contract that is not deployed yet signs in by what will make it", async () => {
	const { address, wrap } = await future();
	expect(await outcome(createSignIn({ chain: node() }), await contractHeader(address, owner, wrap))).toBe(
		`eip155:8453:${address}`,
	);
	expect(await outcome(createSignIn({ chain: node() }), await contractHeader(address, createWallet(), wrap))).toBe(
		"signature_mismatch",
	);
	expect(await outcome(createSignIn({ chain: node() }), await contractHeader(createWallet().address, owner, wrap))).toBe(
		"signature_mismatch",
	);
	expect(await outcome(createSignIn({ chain: node() }), await contractHeader(address))).toBe("signature_mismatch");
});

test("wallets with a key never ask the node, those with a wrong signature only once", async () => {
	const signIn = createSignIn({ chain: node() });
	expect(await outcome(signIn, await evmHeader(owner))).toBe(`eip155:8453:${owner.address.toLowerCase()}`);
	expect(asked()).toBe(0);
	const signature = await createWallet().signMessage({ message: "other" });
	expect(await outcome(signIn, await evmHeader(owner, {}, { signature }))).toBe("signature_mismatch");
	expect([...chain.calls.keys()].sort()).toEqual(["eth_chainId", "eth_getCode"]);
});

test("a contract's word is believed for half a minute", async () => {
	const made = await chain.deploy("SmartWallet", [owner.address]);
	const signIn = createSignIn({ chain: node() });
	const header = await contractHeader(made);
	await outcome(signIn, header);
	const once = asked();
	signIn.clock.advance(29_999);
	expect(await outcome(signIn, header)).toBe(`eip155:8453:${made.toLowerCase()}`);
	expect(asked()).toBe(once);
	signIn.clock.advance(1);
	expect(await outcome(signIn, header)).toBe(`eip155:8453:${made.toLowerCase()}`);
	expect(asked()).toBeGreaterThan(once);
});

test("one check serves all that come with the same header at once", async () => {
	const made = await chain.deploy("SmartWallet", [owner.address]);
	const signIn = createSignIn({ chain: node() });
	const header = await contractHeader(made);
	const found = await Promise.all(Array.from({ length: 20 }, () => outcome(signIn, header)));
	expect(new Set(found)).toEqual(new Set([`eip155:8453:${made.toLowerCase()}`]));
	expect(chain.calls.get("eth_call")).toBe(1);
});

test("an address that asks the node too often is told to wait; all cheap checks come before that", async () => {
	let left = 2;
	const taken: string[] = [];
	const takeContractCheck = (address: string) => {
		taken.push(address);
		if (left-- <= 0) throw new ApiError("RATE_LIMIT_EXCEEDED");
	};
	const signIn: Signer = createSignIn({ chain: node(), takeContractCheck });
	const wrong = async () => outcome(signIn, await contractHeader(createWallet().address));
	expect(await outcome(signIn, await evmHeader(owner, { domain: "evil.test" }))).toBe("domain_mismatch");
	expect(await outcome(signIn, await evmHeader(owner))).toStartWith("eip155:");
	expect(taken).toEqual([]);
	expect([await wrong(), await wrong(), await wrong()]).toEqual([
		"signature_mismatch",
		"signature_mismatch",
		"429 RATE_LIMIT_EXCEEDED",
	]);
	expect(taken).toEqual(["192.0.2.9", "192.0.2.9", "192.0.2.9"]);
});

test("while the node does not answer, or is of another chain, nothing can be said: 503, and good when it is back", async () => {
	const made = await chain.deploy("SmartWallet", [owner.address]);
	const header = await contractHeader(made);
	const signIn = createSignIn({ chain: node() });
	chain.answer = "down";
	expect(await outcome(signIn, header)).toBe("503 SERVICE_UNAVAILABLE");
	expect(await outcome(signIn, await evmHeader(owner))).toStartWith("eip155:");
	chain.answer = null;
	expect(await outcome(signIn, header)).toBe(`eip155:8453:${made.toLowerCase()}`);
	const elsewhere = new Chain({ id: 1, rpcUrl: chain.url, timeoutMs: 30_000 });
	expect(await outcome(createSignIn({ chain: elsewhere }), header)).toBe("503 SERVICE_UNAVAILABLE");
});

/** A node of Base that answers when the test says so. */
function silentNode() {
	const { promise: released, resolve: release } = Promise.withResolvers<void>();
	const server = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		async fetch(request) {
			const { id, method } = (await request.json()) as { id: number; method: string };
			await released;
			return Response.json({ jsonrpc: "2.0", id, result: method === "eth_chainId" ? "0x2105" : "0x" });
		},
	});
	return {
		chain: new Chain({ id: 8453, rpcUrl: `http://127.0.0.1:${server.port}`, timeoutMs: 60_000 }),
		release,
		stop: () => server.stop(true),
	};
}

test("one network has half of the questions that are under way; who comes then is told to try again, others are not", async () => {
	const silent = silentNode();
	let taken = 0;
	const signIn = createSignIn({ chain: silent.chain, takeContractCheck: () => void taken++ });
	const wrong = async (address?: string) => outcome(signIn, await contractHeader(createWallet().address), undefined, address);
	const waiting = Array.from({ length: 32 }, () => wrong());
	await until(() => taken === 32, "the questions of one network");
	expect(await wrong()).toBe("503 SERVICE_UNAVAILABLE");
	waiting.push(wrong("192.0.2.10"));
	await until(() => taken === 34, "the question of another network");
	silent.release();
	expect(new Set(await Promise.all(waiting))).toEqual(new Set(["signature_mismatch"]));
	expect(await wrong()).toBe("signature_mismatch");
	await silent.stop();
});

test("nobody waits long for a node that does not answer; what it was asked still counts", async () => {
	const silent = silentNode();
	const due: (() => void)[] = [];
	const timers = {
		after(delayMs: number, action: () => void) {
			expect(delayMs).toBe(10_000);
			due.push(action);
			return () => {};
		},
	};
	const signIn = createSignIn({ chain: silent.chain, timers });
	const wrong = async () => outcome(signIn, await contractHeader(createWallet().address));
	const waiting = Array.from({ length: 32 }, wrong);
	await until(() => due.length === 32, "the questions");
	for (const end of due) end();
	expect(new Set(await Promise.all(waiting))).toEqual(new Set(["503 SERVICE_UNAVAILABLE"]));
	expect(await wrong()).toBe("503 SERVICE_UNAVAILABLE");
	expect(due.length).toBe(32);
	silent.release();
	await until(async () => (await wrong()) === "signature_mismatch", "the end of the questions");
	await silent.stop();
});
